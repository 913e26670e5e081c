#pragma once
/// Transforms on the host: the bytes that data/transform defines, whatever the instruction set and the number of
/// threads.

#include <cstdint>
#include <vector>

#include "data/core/progress_token.h"
#include "data/core/rows.h"
#include "data/transform/fitted.h"

namespace knn::cpu {

/// Fits the transform on these images of `image.dim()` pixels, or on other rows of as many elements; only `pca`, `minmax` and `zscore` read
/// them. Throws UsageError (it cannot be fitted on them), DataError (minmax, zscore), Interrupted.
FittedTransform fit(const TransformSpec& spec, const Rows& images, ImageShape image, int threads = 0,
                    const std::atomic<bool>* stop = nullptr);

/// The bytes of the features of each image, count × dim_out (FittedTransform::rows_out). Throws DataError (not enough memory), Interrupted, UsageError (bad
/// MNIST_KNN_ISA). threads: 0: all.
std::vector<std::uint8_t> features(const FittedTransform& transform, const Rows& images, int threads = 0,
                                   const std::atomic<bool>* stop = nullptr);

}  // namespace knn::cpu
