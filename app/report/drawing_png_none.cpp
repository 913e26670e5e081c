#include "app/report/drawing.h"
#include "data/core/errors.h"

namespace knn {

bool png_available() {
    return false;
}

std::vector<std::uint8_t> png_of(const Drawing&) {
    throw DataError("a PNG: this build cannot draw pictures; expected a name that ends in .svg");
}

}  // namespace knn
