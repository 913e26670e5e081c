/// Pictures decoded by the module, and the digits that are found in them.

#include <algorithm>
#include <array>

#include "data/core/errors.h"
#include "data/picture/digit_image.h"
#include "data/picture/picture_file.h"
#include "data/picture/picture_header.h"
#include "tests/fuzz/input.h"

namespace knn {

namespace {

using test::require;

/// Larger pictures are not decoded, and of pages above the second nothing is extracted: they only take time.
constexpr std::int64_t max_decoded = 1 << 20, max_extracted = 1 << 16;

void extract(const Picture& picture) {
    const DigitImage digit = extract_digit(picture);
    const auto inside = [&](const Box& box) {
        return box.x >= 0 && box.y >= 0 && box.w >= 0 && box.h >= 0 && box.x + box.w <= picture.cols &&
               box.y + box.h <= picture.rows;
    };
    require(!digit.refused.empty() || inside(digit.box), "a digit's box lies in the picture");
    std::vector<PageMark> marks;
    for (const DigitImage& one : extract_digits(picture, nullptr, &marks))
        require(inside(one.box), "the box of each digit of a page lies in the picture");
    for (const PageMark& one : marks)
        require(inside(one.box), "the box of each mark of a page lies in the picture");
    constexpr std::array boxes = {FormBox{0, 0, 0.5, 1, true}, FormBox{0.5, 0, 0.5, 0.5, false}};
    for (const FormFrame frame : {FormFrame::picture, FormFrame::paper, FormFrame::lines})
        try {
            for (const DigitImage& one : extract_form(picture, frame, boxes))
                require(inside(one.box), "the box of each digit of a form lies in the picture");
        } catch (const DataError&) {  // no frame
        }
}

void decode(std::span<const std::uint8_t> bytes) {
    const auto header = picture_header(bytes);
    if (!header || header->rows <= 0 || header->cols <= 0 || header->rows > max_decoded / header->cols)
        return;
    Picture picture;
    try {
        picture = decode_picture(bytes, "input");
    } catch (const DataError&) {
        return;
    }
    const std::int64_t pixels = std::int64_t{picture.rows} * picture.cols;
    require(picture.rows > 0 && picture.cols > 0 && std::ssize(picture.gray) == pixels,
            "a picture has its pixels");
    require(std::minmax<std::int64_t>(picture.rows, picture.cols) == std::minmax(header->rows, header->cols),
            "a picture has the size that its header said");
    try {
        if (pixels <= max_extracted) extract(picture);
    } catch (const DataError&) {  // too many marks
    }
}

}  // namespace

}  // namespace knn

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    knn::limit_codecs();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    knn::decode({data, size});
    return 0;
}
