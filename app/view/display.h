#pragma once
/// Whether a window can be opened. The window libraries end the process if they find no display, so this must
/// be checked first.

#include <functional>
#include <string>

namespace knn {

/// Why there is no display; empty if there is one. Needs no window library at build time.
///
/// For X11 a connection is tried. For Wayland that is not enough, because the window library may have been
/// built without it, so `try_window` is called in a child process, which must survive it.
std::string why_no_display(const std::function<void()>& try_window);

}  // namespace knn
