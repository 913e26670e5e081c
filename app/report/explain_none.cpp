#include "app/report/explain.h"
#include "data/core/errors.h"

namespace knn {

void reduce_step(Step&, bool) {}

std::vector<std::uint8_t> explanation_png(const PictureAnswers&) {
    throw DataError("--explain: this build cannot draw pictures; expected a build with OpenCV");
}

}  // namespace knn
