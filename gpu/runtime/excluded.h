#pragma once

#include <cstdint>

#include "data/core/searcher.h"

namespace knn::gpu {

/// `Exclude` for a batch, as a kernel argument; `begin`: the index of the batch's first query in the search.
struct Excluded {
    std::int64_t first = -1, n = 1, m = 1, rest = 0, begin = 0;

    Excluded() = default;
    Excluded(const Exclude& exclude, std::int64_t batch_begin)
        : first(exclude.first), n(exclude.n), m(exclude.m), rest(exclude.rest), begin(batch_begin) {}

    __host__ __device__ bool any() const { return first >= 0; }
    /// The index of that training image; 2³² − 1, which no image has, if there is none.
    __host__ __device__ std::uint32_t of(std::int64_t query) const {
        return any() ? static_cast<std::uint32_t>(first + (rest + (begin + query) * n) / m) : 0xffffffffu;
    }
};

}  // namespace knn::gpu
