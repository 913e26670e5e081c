#pragma once
/// Whether a window can be opened at all. The libraries that open windows end the process where they find no
/// display, so that somebody has to ask first.

#include <string>

namespace knn {

/// Why there is no display; empty where there is one. Needs no library of windows at build time.
std::string why_no_display();

}  // namespace knn
