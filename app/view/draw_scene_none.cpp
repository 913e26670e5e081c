#include "app/view/draw_scene.h"
#include "data/core/errors.h"

namespace knn {

Picture picture_of(const PadDrawing&) {
    throw DataError("a drawing: this build cannot draw pictures; a build with OpenCV was expected");
}

std::vector<std::uint8_t> drawing_png(const PadDrawing& drawing) {
    picture_of(drawing);
    return {};
}

Frame draw_pad(const PadDrawing& drawing, const Answer*, const PictureAnswers&, const std::string&) {
    picture_of(drawing);
    return {};
}

}  // namespace knn
