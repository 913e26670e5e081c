#include "app/view/shown_window.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "app/console/console.h"
#include "app/report/page.h"
#include "data/core/errors.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// Whether libX11 connects to the display of the environment.
bool opens_display() {
    // Not closed: the window libraries will load the same one.
    void* const client = ::dlopen("libX11.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (client == nullptr) return false;
    const auto open = reinterpret_cast<void* (*)(const char*)>(::dlsym(client, "XOpenDisplay"));
    void* const display = open != nullptr ? open(nullptr) : nullptr;
    if (display == nullptr) return false;
    if (const auto close = reinterpret_cast<int (*)(void*)>(::dlsym(client, "XCloseDisplay"))) close(display);
    return true;
}

/// Prints why the program ends: toolkits call exit() if the connection to the display server is lost.
bool is_showing = false;
void say_why_it_ends() {
    if (is_showing) print_line_to_stderr("error: window: the display server is gone; expected it to stay");
}

/// Keysyms of X11 (keysymdef.h); all windows on Linux report them.
enum Key {
    escape = 27,
    home = 0xff50,
    left = 0xff51,
    up = 0xff52,
    right = 0xff53,
    down = 0xff54,
    page_up = 0xff55,
    page_down = 0xff56,
    end = 0xff57,
    keypad_0 = 0xffb0,
    keypad_9 = 0xffb9,
    f1 = 0xffbe
};

constexpr std::int64_t far = std::int64_t{1} << 40;
constexpr std::pair<int, std::int64_t> key_moves[] = {
    {'n', 1},   {' ', 1}, {right, 1},   {down, 1},  {'p', -1},       {'\b', -1},
    {left, -1}, {up, -1}, {home, -far}, {end, far}, {page_down, 10}, {page_up, -10}};

}  // namespace

void check_window(const std::string& other_forms) {
    if (!pictures_available())
        throw DataError("this build has no windows; expected a build with OpenCV" + other_forms);
    ::setenv("QT_LOGGING_RULES", "*=false", 0);  // Qt's log messages do not help the user
    const auto fail = [&](const std::string& why) {
        throw DeviceError("no window: " + why + "; expected a display" + other_forms);
    };
    const std::string display = variable("DISPLAY");
    if (display.empty()) fail("DISPLAY is not set");
    // The window libraries end the process if they find no display.
    if (!opens_display()) fail("the display " + display + " cannot be opened");
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

Viewer::Viewer(const Evaluation& evaluation, std::vector<std::int64_t> images)
    : evaluation_(evaluation), images_(std::move(images)), shown_(images_) {}

Reply Viewer::press(int key) {
    if (key < 0) return Reply::nothing;
    key &= 0xffff;
    if (key >= keypad_0 && key <= keypad_9) key += '0' - keypad_0;
    if (key >= 'A' && key <= 'Z') key += 'a' - 'A';
    if (key >= 0xff00 && (key < home || key > end) && key != f1) return Reply::nothing;  // Shift and the like
    const bool had_message = !message_.empty(), had_help = help_;
    message_.clear();
    help_ = false;
    if (key == escape && had_help) return Reply::redraw;
    if (key == 'q' || key == escape) return Reply::quit;
    if (key == 's') return Reply::save;
    if (key == 'h' || key == '?' || key == f1) {
        help_ = !had_help;
        return Reply::redraw;
    }
    for (const auto& [pressed, by] : key_moves)
        if (key == pressed) return move(by);
    if (key >= '0' && key <= '9') return toggle_filter(std::string(1, static_cast<char>(key)));
    return had_message || had_help ? Reply::redraw : Reply::nothing;
}

Reply Viewer::move(std::int64_t by) {
    const std::int64_t before = place_;
    place_ = std::clamp<std::int64_t>(place_ + by, 0, count() - 1);
    if (place_ == before) message_ = by > 0 ? "this is the last one" : "this is the first one";
    return Reply::redraw;
}

Reply Viewer::toggle_filter(const std::string& label) {
    const std::int64_t before = image();
    const auto wanted = filter_ == label ? std::nullopt : std::optional(label);
    std::vector<std::int64_t> chosen;
    for (const std::int64_t one : images_)
        if (!wanted || evaluation_.data->class_name(evaluation_.truth(one)) == *wanted) chosen.push_back(one);
    if (chosen.empty()) {
        message_ = "none of these has the true label " + label;
        return Reply::redraw;
    }
    filter_ = wanted;
    shown_ = std::move(chosen);
    // Keeps the current digit if it is still in the list.
    const auto same = std::ranges::find(shown_, before);
    place_ = same != shown_.end() ? same - shown_.begin() : 0;
    return Reply::redraw;
}

void show_window(const Evaluation& evaluation, const std::vector<std::int64_t>& images) {
    ShownWindow window("mnist-knn view", view_without_window);
    Viewer viewer(evaluation, images);
    window.show(draw_scene(evaluation, viewer));
    while (true) {
        const int key = window.wait_key();
        if (!window.is_visible()) return;
        const Reply reply = viewer.press(key);
        if (reply == Reply::quit) return;
        if (reply == Reply::save)
            viewer.tell(
                save_picture("digit-" + std::to_string(viewer.image()), scene_png(evaluation, viewer)));
        if (reply != Reply::nothing) window.show(draw_scene(evaluation, viewer));
    }
}

}  // namespace knn
