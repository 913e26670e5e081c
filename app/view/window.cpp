#include "app/view/window.h"

#include <cstdlib>
#include <filesystem>

#include "app/console/interrupt.h"
#include "app/console/output.h"
#include "app/report/picture.h"
#include "app/view/display.h"
#include "app/view/scene.h"
#include "data/core/errors.h"
#include "data/picture/picture_module.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

constexpr const char* title = "mnist-knn view";
constexpr const char* other_forms =
    "; expected a display, or one of --sheet OUT.png, --html OUT.html and --text";

/// An unused file name in the current folder.
std::string free_name(std::int64_t image) {
    const std::string stem = "digit-" + std::to_string(image);
    std::error_code none;
    std::string name = stem + ".png";
    for (int n = 2; fs::exists(name, none); ++n)
        name = stem + '-' + std::to_string(n) + ".png";
    return name;
}

void save(const Evaluation& evaluation, Viewer& viewer) {
    try {
        const std::string name = free_name(viewer.image());
        write_output(name, scene_png(evaluation, viewer));
        viewer.tell("saved " + name);
    } catch (const DataError& error) {
        viewer.tell(error.what());
    }
}

void show(const PictureModule& module, const Frame& frame) {
    std::string error;
    if (!module.show(title, frame.bgr.data(), frame.rows, frame.cols, error))
        throw DeviceError("window: " + error + other_forms);
}

/// Prints why the program ends: toolkits call exit() if the connection to the display server is lost.
class ExitWatch {
  public:
    ExitWatch() {
        [[maybe_unused]] static const int registered = std::atexit([] {
            if (showing)
                print_line_to_stderr("error: window: the display server is gone; expected it to stay");
        });
        showing = true;
    }
    ExitWatch(const ExitWatch&) = delete;
    ExitWatch& operator=(const ExitWatch&) = delete;
    ~ExitWatch() { showing = false; }

  private:
    static inline bool showing = false;
};

}  // namespace

void check_window() {
    if (!pictures_available())
        throw DataError(
            "this build has no windows; expected a build with OpenCV, or --html OUT.html or --text");
    ::setenv("QT_LOGGING_RULES", "*=false", 0);  // Qt's log messages do not help the user
    const auto try_window = [] { show(picture_module(), {1, 1, {0, 0, 0}}); };
    if (const std::string why = why_no_display(try_window); !why.empty())
        throw DeviceError("no window: " + why + other_forms);
    picture_module();
}

void show_window(const Evaluation& evaluation, const std::vector<std::int64_t>& images) {
    constexpr int poll_ms = 50;
    const ExitWatch watch;
    const PictureModule& module = picture_module();
    Viewer viewer(evaluation, images);
    show(module, draw_scene(evaluation, viewer));
    while (true) {
        const int key = module.wait_key(poll_ms);
        stop_if_asked();
        if (!module.is_visible(title)) return;
        const Reply reply = viewer.press(key);
        if (reply == Reply::quit) return module.close(title);
        if (reply == Reply::save) save(evaluation, viewer);
        if (reply != Reply::nothing) show(module, draw_scene(evaluation, viewer));
    }
}

}  // namespace knn
