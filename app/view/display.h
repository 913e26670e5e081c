#pragma once
/// Whether a window can be opened at all. The libraries that open windows end the process where they find no
/// display, so that somebody has to ask first.

#include <functional>
#include <string>

namespace knn {

/// Why there is no display; empty where there is one. Needs no library of windows at build time.
///
/// X11 is asked whether it lets the program in. Of Wayland that says little: what opens windows may have been
/// built without it, so that `try_window` is called in a child process, which must survive it.
std::string why_no_display(const std::function<void()>& try_window);

}  // namespace knn
