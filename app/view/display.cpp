#include "app/view/display.h"

#include <dlfcn.h>

#include <cstdlib>

namespace knn {

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// Whether the client library of a window system connects: both have a function that takes a name (null for
/// the environment's) and returns null where it does not work out, and one that hangs up.
bool connects(const char* library, const char* open_name, const char* close_name) {
    // Not closed again: the libraries of windows will load the same one.
    void* const client = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (client == nullptr) return false;
    const auto open = reinterpret_cast<void* (*)(const char*)>(::dlsym(client, open_name));
    void* const connection = open != nullptr ? open(nullptr) : nullptr;
    if (connection == nullptr) return false;
    // XCloseDisplay returns an int, wl_display_disconnect nothing; neither is looked at.
    const auto close = reinterpret_cast<void (*)(void*)>(::dlsym(client, close_name));
    if (close != nullptr) close(connection);
    return true;
}

}  // namespace

std::string why_no_display() {
    const std::string x11 = variable("DISPLAY"), wayland = variable("WAYLAND_DISPLAY");
    if (x11.empty() && wayland.empty()) return "neither DISPLAY nor WAYLAND_DISPLAY is set";
    if (!x11.empty() && connects("libX11.so.6", "XOpenDisplay", "XCloseDisplay")) return "";
    if (!wayland.empty() && connects("libwayland-client.so.0", "wl_display_connect", "wl_display_disconnect"))
        return "";
    return "the display " + (x11.empty() ? wayland : x11) + " cannot be opened";
}

}  // namespace knn
