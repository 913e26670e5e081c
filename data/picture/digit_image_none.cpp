#include "data/core/errors.h"
#include "data/picture/digit_image.h"

namespace knn {

namespace {

[[noreturn]] void refuse() {
    throw DataError("pictures: this build cannot find digits in pictures; expected a build with OpenCV");
}

}  // namespace

void make_opencv_throw_bad_alloc() {}

DigitImage extract_digit(const Picture&, std::vector<Step>*) {
    refuse();
}

std::vector<DigitImage> extract_digits(const Picture&, std::vector<Step>*) {
    refuse();
}

}  // namespace knn
