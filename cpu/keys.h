#pragma once
/// Selection and sorting of the keys of neighbors (neighbor_key), by digits where there are many.

#include <cstddef>
#include <cstdint>
#include <span>

namespace knn::cpu {

/// Moves the k least keys to the front, in any order, with the largest of them last; 1 <= k <= keys.size().
void keep_least(std::span<std::uint64_t> keys, std::size_t k);

/// Sorts them; `scratch` has as many places.
void sort_keys(std::span<std::uint64_t> keys, std::uint64_t* scratch);

}  // namespace knn::cpu
