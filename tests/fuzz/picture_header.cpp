/// Headers of pictures, before any codec sees them.

#include "data/picture/picture_header.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using knn::test::require;
    const std::span bytes(data, size);
    const auto header = knn::picture_header(bytes);
    knn::foreign_format(bytes);
    if (!header) return 0;
    require(!header->format.empty(), "the format has a name");
    if (header->still.empty()) return 0;
    const auto still = knn::picture_header(header->still);
    require(still && still->format == header->format, "what is decoded instead has the same format");
    if (header->format == "PNM" || header->format == "BMP") {
        require(header->still.size() <= size + (header->format == "PNM" ? 1 : 0),
                "without a comment or masks it takes no more bytes, plain samples end with a line");
        require(still->rows == header->rows && still->cols == header->cols, "and form the same picture");
    } else if (header->format == "TIFF") {
        require(header->still.size() == size && still->orientation == 1, "it is stored upright");
        require(still->rows <= header->rows && still->cols <= header->cols, "and is no larger");
    } else {
        require(header->format == "WebP" || header->format == "PNG",
                "of the others WebP is animated, PNG has texts");
    }
    return 0;
}
