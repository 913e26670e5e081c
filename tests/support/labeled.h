#pragma once
/// A training set of images at which re-ranking may break, with labels.

#include <cstdint>
#include <vector>

#include "data/core/device_index.h"
#include "tests/support/rerank_images.h"

namespace knn::test {

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
