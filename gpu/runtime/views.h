#pragma once
/// Arguments of kernels: non-owning views of arrays. Pitches are in bytes, strides in elements.

#include <cstddef>
#include <cstdint>

#include "data/core/neighbors.h"

namespace knn::gpu {

/// n rows of `cols` elements in device memory, each row beginning `pitch_bytes` after the one before.
template <class T>
struct PitchedRows {
    T* d_data = nullptr;
    std::int64_t n = 0;
    std::int64_t cols = 0;
    std::size_t pitch_bytes = 0;

    __host__ __device__ T* row(std::int64_t i) const {
        return reinterpret_cast<T*>(reinterpret_cast<char*>(d_data) +
                                    static_cast<std::size_t>(i) * pitch_bytes);
    }
    PitchedRows slice(std::int64_t begin, std::int64_t count) const {
        return {row(begin), count, cols, pitch_bytes};
    }
    /// Whether every row begins at a multiple of `bytes`: pieces of that size can be read at once.
    __host__ __device__ bool aligned(std::size_t bytes) const {
        return reinterpret_cast<std::uintptr_t>(d_data) % bytes == 0 && pitch_bytes % bytes == 0;
    }
};

/// 8-bit images as uploaded: n × dim.
using ByteRows = PitchedRows<std::uint8_t>;
/// The same as floats: n × dim, each row filled with zeros up to a multiple of 4; rows begin at multiples of
/// 16 bytes.
using FloatRows = PitchedRows<float>;
/// The scores of all pairs (data/core/metric.h; for l2 the squared distances): n_query × n_train.
using DistanceRows = PitchedRows<std::uint32_t>;

/// The k nearest of each query in order: n_query × k, without gaps.
struct NeighborRows {
    Neighbor* d_data = nullptr;
    std::int64_t n_query = 0;
    int k = 0;

    NeighborRows slice(std::int64_t begin, std::int64_t n) const { return {d_data + begin * k, n, k}; }
};

/// The k nearest of each query in other images, n_query × k, which a search improves; rows may end with entries of
/// the largest distance and index, which are no neighbors. Null: there are none.
struct KnownRows {
    const Neighbor* d_data = nullptr;
    std::uint32_t first = 0;  ///< where indices of training images begin: above those of the known
};

/// The training image that each query of a batch is, which is left out of its neighbors. An index behind the training
/// images leaves out none. Null: none is left out.
struct LeftOut {
    const std::uint32_t* d_images = nullptr;

    __host__ __device__ bool any() const { return d_images != nullptr; }
    /// 2³² − 1, which no image has, if there is none.
    __device__ std::uint32_t of(std::int64_t query) const { return any() ? d_images[query] : 0xffffffffu; }
};

/// What the memory of a search depends on.
struct SearchShape {
    std::int64_t n_query = 0;
    int k = 0;
    bool leaves_out = false, has_known = false;
    bool operator==(const SearchShape&) const = default;
};

/// A batch of queries, and where their neighbors go.
struct Batch {
    ByteRows query;  ///< features
    NeighborRows out;
    LeftOut left_out = {};
    KnownRows known = {};
};

}  // namespace knn::gpu
