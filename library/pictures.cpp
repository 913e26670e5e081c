#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "classifier/picture_answers.h"
#include "data/picture/picture_file.h"
#include "library/index.h"

/// The answers of a picture.
struct knn_digits {
    std::vector<knn::Answer> answers;
};

using namespace knn::library;

namespace {

using knn::DigitImage;
using knn::Picture;

Picture decoded(const knn_picture& given) {
    require_there(given.data, "picture", "its data");
    const auto* const bytes = static_cast<const std::uint8_t*>(given.data);
    require(given.size >= 0, "picture: has size " + std::to_string(given.size) + "; expected 0 or more");
    require_flag(given.many, "picture", "many", given.reserved);
    if (given.size > 0) return knn::decode_picture({bytes, static_cast<std::size_t>(given.size)}, "picture");
    const std::int64_t rows = given.rows, cols = given.cols, pitch = given.pitch == 0 ? cols : given.pitch;
    require(rows >= 1 && cols >= 1 && rows * cols <= knn::max_picture_pixels && pitch >= cols &&
                pitch <= std::numeric_limits<std::ptrdiff_t>::max() / rows,
            "picture: has " + std::to_string(rows) + "x" + std::to_string(cols) + " pixels and pitch " +
                std::to_string(given.pitch) +
                "; expected 1 to 100000000 pixels, and pitch 0 or at least cols, in memory");
    Picture picture{given.rows, given.cols, std::vector<std::uint8_t>(static_cast<std::size_t>(rows * cols))};
    for (std::int64_t row = 0; row < rows; ++row)
        std::copy_n(bytes + row * pitch, cols, picture.gray.data() + row * cols);
    return picture;
}

std::vector<knn::Answer> read_digits(knn_index& index, const knn_picture& given, const knn_options& options) {
    if (knn_has("pictures") == 0)
        throw Unsupported("pictures: this build has none; expected one with OpenCV");
    const Picture picture = decoded(given);
    const Progress progress(options.progress, options.data);
    const auto opened = index.open(true, index.method().vote.k, progress.token());
    const knn::ImageShape shape = opened->index->set().shape();
    require(shape == knn::ImageShape{DigitImage::side, DigitImage::side} && opened->snapshot->has_labels() &&
                index.method().vote.k <= opened->size(),
            "set: has " + std::to_string(opened->size()) + " images of " + std::to_string(shape.rows) + "x" +
                std::to_string(shape.cols) + "; expected at least k of 28x28, with labels");
    require(opened->index->set().images().are_bytes(),
            "set: has images of other elements; expected KNN_UINT8");
    knn::require_novelty(index.method());
    const auto scoring = index.scoring(*opened, progress.token());
    std::vector<DigitImage> images;
    if (given.many != 0)
        images = knn::extract_digits(picture);
    else
        images.push_back(knn::extract_digit(picture));
    knn::PictureAnswer one;
    for (DigitImage& image : images)
        one.digits.emplace_back().image = std::move(image);
    const auto loss = options.reject > 0 ? std::optional(options.reject) : std::nullopt;
    const std::span pictures(&one, 1);
    const std::vector<knn::Answer*> digits = knn::digits_to_search(pictures, loss.has_value());
    if (!digits.empty()) knn::answer_digits(*opened->index, scoring->scorer, loss, digits, progress.token());
    knn::choose_answers(pictures, *opened->index, scoring->scorer, scoring->sample, progress.token().quiet());
    return std::move(one.digits);
}

}  // namespace

extern "C" {

knn_status knn_digits_read(knn_index* index, const knn_picture* picture, const knn_options* options,
                           knn_digits** digits) {
    return call([&] {
        require_there(digits, "digits", "where the handle goes");
        *digits = nullptr;
        require_there(index, "index", "an index");
        *digits = new knn_digits{read_digits(*index, read_struct(picture, "picture"), read_options(options))};
    });
}

knn_status knn_digits_get_count(const knn_digits* digits, int64_t* count) {
    return call([&] {
        require_there(digits, "digits", "those of knn_digits_read");
        require_there(count, "count", "where the number goes");
        *count = std::ssize(digits->answers);
    });
}

knn_status knn_digits_get(const knn_digits* digits, int64_t i, knn_digit* digit) {
    return call([&] {
        require_there(digits, "digits", "those of knn_digits_read");
        const std::int64_t n = std::ssize(digits->answers);
        require(i >= 0 && i < n, "i " + std::to_string(i) + ": is not among the digits; expected less than " +
                                     std::to_string(n));
        const knn::Answer& answer = digits->answers[static_cast<std::size_t>(i)];
        const knn::Box& box = answer.image.box;
        write_struct({.struct_size = 0,
                      .pixels = answer.image.pixels.data(),
                      .reason = answer.reason.c_str(),
                      .probability = answer.confidence,
                      .vote_share = answer.vote_share,
                      .p_value = answer.p_value,
                      .label = answer.label.value_or(-1),
                      .guess = answer.guess.value_or(-1),
                      .x = box.x,
                      .y = box.y,
                      .w = box.w,
                      .h = box.h},
                     digit, "digit");
    });
}

void knn_digits_free(knn_digits* digits) {
    delete digits;
}
}
