#pragma once
/// Images at which re-ranking may break, also with labels.

#include "data/core/device_index.h"
#include "tests/support/test.h"

namespace knn::test {

/// Shapes with one pixel, one row, one column, odd sides, and sides that no vector divides.
inline std::vector<ImageShape> rerank_shapes() {
    return {{1, 1}, {1, 2}, {2, 1},   {1, 53},  {41, 1},  {2, 3},
            {5, 7}, {7, 4}, {16, 16}, {28, 28}, {29, 31}, {9, 66}};
}

/// n images: blank, white, one bright pixel, gray, black and white noise (the steepest gradients), gray noise, strokes,
/// each several times where there is space, so that there are equal ones.
inline std::vector<std::uint8_t> rerank_images(int n, ImageShape shape, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> images;
    for (int i = 0; i < n; ++i)
        for (int y = 0; y < shape.rows; ++y)
            for (int x = 0; x < shape.cols; ++x) {
                const auto noise = static_cast<std::uint32_t>(random());
                const bool stroke = (x + (i % 5) * y / 2) % 9 < 3;
                const std::uint32_t values[] = {0,
                                                255,
                                                x == shape.cols / 2 && y == shape.rows / 2 ? 255U : 0U,
                                                128,
                                                noise % 2 * 255,
                                                noise % 256,
                                                stroke ? 255 - noise % 64 : 0,
                                                ((x / 3 + y / 2 + i / 8) % 2) * 255U};
                images.push_back(static_cast<std::uint8_t>(values[i % 8]));
            }
    return images;
}

/// A training set of them, with labels.
struct Labeled {
    ImageShape shape;
    std::vector<std::uint8_t> pixels, labels;

    /// Image i has the label `label_of(i)`.
    template <class LabelOf>
    Labeled(ImageShape shape_, int n, std::uint32_t seed, LabelOf label_of)
        : shape(shape_), pixels(rerank_images(n, shape_, seed)) {
        for (int i = 0; i < n; ++i)
            labels.push_back(static_cast<std::uint8_t>(label_of(i)));
    }
    knn::Rows rows() const { return {pixels.data(), std::ssize(labels), shape.dim()}; }
    Training training() const { return {.rows = rows(), .labels = labels, .shape = shape}; }
};

}  // namespace knn::test
