#pragma once
/// `normalize`: stretches the contrast of an image to the full range, then scales it so that the mean pixel is 33, as
/// in MNIST. Seed 003, section 5, names normalization without defining it; this one removes the effects of pen and
/// exposure, the darkness and the amount of ink.
///
/// s = ⌊(255 (p − min) + (max − min) / 2) / (max − min)⌋, then min(255, ⌊(s · 33 n + Σs / 2) / Σs⌋) over n pixels. An
/// image of a single gray becomes background.

#include <algorithm>
#include <cstdint>

#include "data/transform/rounding.h"
#include "data/transform/spec.h"

namespace knn {

inline constexpr int normal_mean = 33;

struct Contrast {
    int low = 255, high = 0;
    std::int64_t sum = 0;  ///< of the stretched pixels
};

KNN_HOST_DEVICE inline int stretched(const Contrast& contrast, int pixel) {
    const int range = contrast.high - contrast.low;
    return range <= 0 ? 0 : (255 * (pixel - contrast.low) + range / 2) / range;
}

KNN_HOST_DEVICE inline std::uint8_t normalized(const Contrast& contrast, int pixel, std::int64_t dim) {
    if (contrast.sum == 0) return 0;
    const std::int64_t scaled =
        (std::int64_t{stretched(contrast, pixel)} * normal_mean * dim + contrast.sum / 2) / contrast.sum;
    return static_cast<std::uint8_t>(scaled < 255 ? scaled : 255);
}

inline Contrast contrast_of(const std::uint8_t* image, std::int64_t dim) {
    Contrast contrast;
    for (std::int64_t i = 0; i < dim; ++i) {
        contrast.low = std::min<int>(contrast.low, image[i]);
        contrast.high = std::max<int>(contrast.high, image[i]);
    }
    for (std::int64_t i = 0; i < dim; ++i)
        contrast.sum += stretched(contrast, image[i]);
    return contrast;
}

}  // namespace knn
