#include "app/view/shown_window.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "app/console/console.h"
#include "app/report/picture.h"
#include "data/core/errors.h"

namespace fs = std::filesystem;

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

/// Prints why the program ends: toolkits call exit() if the connection to the display server is lost.
bool is_showing = false;
void say_why_it_ends() {
    if (is_showing) print_line_to_stderr("error: window: the display server is gone; expected it to stay");
}

}  // namespace

void check_window(const std::string& other_forms) {
    if (!pictures_available())
        throw DataError("this build has no windows; expected a build with OpenCV" + other_forms);
    ::setenv("QT_LOGGING_RULES", "*=false", 0);  // Qt's log messages do not help the user
    const auto fail = [&](const std::string& why) {
        throw DeviceError("no window: " + why + "; expected a display" + other_forms);
    };
    const std::string x11 = variable("DISPLAY"), wayland = variable("WAYLAND_DISPLAY");
    if (x11.empty() && wayland.empty()) fail("neither DISPLAY nor WAYLAND_DISPLAY is set");
    // The window libraries end the process if they find no display. For X11 a connection is tried before. For Wayland that
    // is not enough, because the window library may have been built without it: a child process must survive a window.
    const auto try_wayland = [&] {
        if (!connects("libwayland-client.so.0", "wl_display_connect", "wl_display_disconnect"))
            throw DeviceError("no answer");
        ShownWindow("mnist-knn", other_forms).show({1, 1, {0, 0, 0}});
    };
    const bool opens = (!x11.empty() && connects("libX11.so.6", "XOpenDisplay", "XCloseDisplay")) ||
                       (!wayland.empty() && survives(try_wayland));
    if (!opens) fail("the display " + (x11.empty() ? wayland : x11) + " cannot be opened");
    picture_module();
}

ShownWindow::ShownWindow(const char* title, std::string other_forms)
    : module_(picture_module()), title_(title), other_forms_(std::move(other_forms)) {
    [[maybe_unused]] static const int registered = std::atexit(say_why_it_ends);
    is_showing = true;
}

ShownWindow::~ShownWindow() {
    is_showing = false;
    if (is_visible()) module_.close(title_);
}

void ShownWindow::show(const Frame& frame) {
    std::string error;
    if (!module_.show(title_, frame.bgr.data(), frame.rows, frame.cols, error))
        throw DeviceError("window: " + error + "; expected a display" + other_forms_);
}

int ShownWindow::wait_key() {
    constexpr int poll_ms = 5;  // half of it passes, on average, before a stroke is answered
    const int key = module_.wait_key(poll_ms);
    stop_if_asked();
    return key;
}

std::string save_picture(const std::string& stem, std::span<const std::uint8_t> png) {
    std::error_code none;
    std::string name = stem + ".png";
    for (int n = 2; fs::exists(fs::symlink_status(name, none)); ++n)  // a link leads to somebody's file
        name = stem + '-' + std::to_string(n) + ".png";
    try {
        write_output(name, png);
        return "saved " + name;
    } catch (const DataError& error) {
        return error.what();
    }
}

}  // namespace knn
