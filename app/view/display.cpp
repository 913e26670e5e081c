#include "app/view/display.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "data/core/errors.h"

namespace knn {

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// Whether the client library of a window system connects: both have a function that takes a name (null for
/// the environment's) and returns null on failure, and one that disconnects.
bool connects(const char* library, const char* open_name, const char* close_name) {
    // Not closed: the window libraries will load the same one.
    void* const client = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (client == nullptr) return false;
    const auto open = reinterpret_cast<void* (*)(const char*)>(::dlsym(client, open_name));
    void* const connection = open != nullptr ? open(nullptr) : nullptr;
    if (connection == nullptr) return false;
    // XCloseDisplay returns an int, wl_display_disconnect nothing; both are ignored.
    const auto close = reinterpret_cast<void (*)(void*)>(::dlsym(client, close_name));
    if (close != nullptr) close(connection);
    return true;
}

/// Whether a child process completes `work`; its output is dropped.
bool survives(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child < 0) return false;
    if (child == 0) {
        const int nowhere = ::open("/dev/null", O_WRONLY);
        if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
        try {
            work();
        } catch (...) {
            ::_exit(1);
        }
        ::_exit(0);
    }
    int status = -1;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string why_no_display(const std::function<void()>& try_window) {
    const std::string x11 = variable("DISPLAY"), wayland = variable("WAYLAND_DISPLAY");
    if (x11.empty() && wayland.empty()) return "neither DISPLAY nor WAYLAND_DISPLAY is set";
    if (!x11.empty() && connects("libX11.so.6", "XOpenDisplay", "XCloseDisplay")) return "";
    const auto try_wayland = [&] {
        if (!connects("libwayland-client.so.0", "wl_display_connect", "wl_display_disconnect"))
            throw DeviceError("no answer");
        try_window();
    };
    if (!wayland.empty() && survives(try_wayland)) return "";
    return "the display " + (x11.empty() ? wayland : x11) + " cannot be opened";
}

}  // namespace knn
