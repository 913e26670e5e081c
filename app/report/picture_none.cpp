#include "app/report/picture.h"
#include "app/report/sheet.h"
#include "data/core/errors.h"

namespace knn {

bool pictures_available() {
    return false;
}

std::vector<std::uint8_t> confusion_png(const Evaluation&) {
    throw DataError("confusion.png: this build cannot draw pictures; a build with OpenCV was expected");
}

std::int64_t sheet_pages(std::int64_t) {
    return 0;
}

std::vector<std::uint8_t> sheet_png(const Sheet&) {
    throw DataError("a sheet: this build cannot draw pictures; a build with OpenCV was expected");
}

std::vector<std::uint8_t> sheet_png(const Evaluation&, const Gallery&, std::int64_t) {
    throw DataError("a sheet: this build cannot draw pictures; a build with OpenCV was expected");
}

}  // namespace knn
