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
    require(header->format == "WebP", "only WebP is animated");
    const auto still = knn::picture_header(header->still);
    require(still && still->format == "WebP", "the first picture of an animation is a WebP");
    return 0;
}
