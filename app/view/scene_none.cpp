#include "app/view/scene.h"
#include "data/core/errors.h"

namespace knn {

Frame draw_scene(const Evaluation&, const Viewer&) {
    throw DataError("a window: this build cannot draw pictures; a build with OpenCV was expected");
}

std::vector<std::uint8_t> scene_png(const Evaluation& evaluation, const Viewer& viewer) {
    draw_scene(evaluation, viewer);
    return {};
}

}  // namespace knn
