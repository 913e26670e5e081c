/// The functions of digit_image.h and picture_module.h in a build without OpenCV.

#include "data/core/errors.h"
#include "data/picture/digit_image.h"
#include "data/picture/picture_module.h"

namespace knn {

namespace {

[[noreturn]] void refuse() {
    throw DataError("pictures: this build cannot find digits in pictures; expected a build with OpenCV");
}

}  // namespace

void set_up_opencv() {}

DigitImage extract_digit(const Picture&, std::vector<Step>*) {
    refuse();
}

std::vector<DigitImage> extract_digits(const Picture&, std::vector<Step>*) {
    refuse();
}

const PictureModule& picture_module() {
    throw DataError(missing_picture_module());
}

std::string missing_picture_module() {
    return "pictures: this build has neither image formats nor windows; expected a build with OpenCV";
}

}  // namespace knn
