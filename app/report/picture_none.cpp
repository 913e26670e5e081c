#include "app/report/picture.h"
#include "data/errors.h"

namespace knn {

bool pictures_available() {
    return false;
}

std::vector<std::uint8_t> confusion_png(const Evaluation&) {
    throw DataError("confusion.png: this build cannot draw pictures; a build with OpenCV was expected");
}

}  // namespace knn
