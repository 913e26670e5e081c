#pragma once
/// The features of a training set, which `classify` keeps in the cache beside its pixels.

#include <vector>

#include "data/set/training.h"
#include "data/transform/fitted.h"

namespace knn {

/// A fitted transform and the features of the images that it was fitted on. Can be moved, not copied.
struct Features {
    FittedTransform transform;
    Rows rows;  ///< count × dim_out; without a transform the images

    std::vector<std::uint8_t> made;  ///< where the bytes are: here,
    CachedBytes mapped;              ///< or here
};

/// Fits the transform on `train`, the first images of `set`, or reads both from the cache if it has them for these
/// files. Throws as cpu::fit and cpu::features do.
Features load_features(const TrainingSet& set, const Rows& train, const TransformSpec& spec, bool use_cache,
                       int threads, const std::atomic<bool>* stop);

/// Whether cached bytes are this transform, fitted, and its features of `count` images; then `features` has them.
bool restore_features(CachedBytes bytes, const TransformSpec& spec, ImageShape shape, std::int64_t count,
                      Features& features);

}  // namespace knn
