/// What a build without OpenCV has instead of pictures.

#include "app/report/answers.h"
#include "app/report/page.h"
#include "app/view/shown_window.h"
#include "data/core/errors.h"

namespace knn {

namespace {

[[noreturn]] void fail(const std::string& what) {
    throw DataError(what + ": this build cannot draw pictures; expected a build with OpenCV");
}

}  // namespace

bool pictures_available() {
    return false;
}

std::vector<std::uint8_t> confusion_png(const Evaluation&) {
    fail("confusion.png");
}

std::vector<std::uint8_t> sheet_png(const Sheet&) {
    fail("a sheet");
}

void reduce_step(Step&, bool) {}

std::vector<std::uint8_t> explanation_png(const PictureAnswers&) {
    fail("--explain");
}

Frame draw_scene(const Evaluation&, const Viewer&) {
    fail("a window");
}

std::vector<std::uint8_t> scene_png(const Evaluation&, const Viewer&) {
    fail("a window");
}

Frame draw_pad(const PadDrawing&, const std::optional<Answer>&, const PictureAnswers&, const std::string&) {
    fail("a window");
}

void show_pad(const PictureAnswers&, const std::function<Answer(const Picture&)>&) {
    fail("a window");
}

}  // namespace knn
