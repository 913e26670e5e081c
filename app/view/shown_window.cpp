#include "app/view/shown_window.h"

#include <cstdlib>
#include <filesystem>

#include "app/console/interrupt.h"
#include "app/console/output.h"
#include "app/report/picture.h"
#include "app/view/display.h"
#include "data/core/errors.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

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
    const auto try_window = [&] { ShownWindow("mnist-knn", other_forms).show({1, 1, {0, 0, 0}}); };
    if (const std::string why = why_no_display(try_window); !why.empty())
        throw DeviceError("no window: " + why + "; expected a display" + other_forms);
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

std::string free_png_name(const std::string& stem) {
    std::error_code none;
    std::string name = stem + ".png";
    for (int n = 2; fs::exists(name, none); ++n)
        name = stem + '-' + std::to_string(n) + ".png";
    return name;
}

}  // namespace knn
