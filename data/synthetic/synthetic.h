#pragma once
/// Digits that the program draws itself, used if there is no data set.

#include <cstdint>
#include <memory_resource>

#include "data/core/dataset.h"

namespace knn {

struct SyntheticOptions {
    std::uint64_t seed = 1;
    std::int64_t n_train = 6'000, n_test = 1'000;
};

/// 28×28 digits from stroke skeletons with random affine and elastic distortion, pen width and blur.
/// The same seed gives the same bytes on every machine and for every number of threads.
Dataset synthetic_digits(const SyntheticOptions& options = {},
                         std::pmr::memory_resource* memory = std::pmr::get_default_resource());

}  // namespace knn
