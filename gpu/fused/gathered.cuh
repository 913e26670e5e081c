#pragma once
/// Products of a query with gathered rows of training images: 8 lanes multiply one, 16 bytes each at a time.

#include <cstdint>
#include <type_traits>

#include "gpu/runtime/check.h"
#include "gpu/runtime/views.h"
#include "gpu/runtime/warp.cuh"

namespace knn::gpu {

inline constexpr int lanes_per_row = 8, rows_at_once = warp_size / lanes_per_row;
/// Bytes of a row that its lanes read at once, and how often at most.
inline constexpr int row_stage_bytes = 16 * lanes_per_row, most_row_stages = 8;

/// q · r, on each of the row's lanes; part: which of them. d_row: of `pieces` times 16 bytes. query: stages × 128 bytes, zero beyond
/// the row. By the whole warp.
template <int stages>
__device__ inline std::uint32_t gathered_product(const std::uint8_t* d_row, int pieces, const uint4* query,
                                                 int part) {
    uint4 a[stages];
#pragma unroll
    for (int stage = 0; stage < stages; ++stage)
        a[stage] =
            __ldg(reinterpret_cast<const uint4*>(d_row) + min(stage * lanes_per_row + part, pieces - 1));
    std::uint32_t sum = 0;
#pragma unroll
    for (int stage = 0; stage < stages; ++stage) {
        const uint4 b = query[stage * lanes_per_row + part];
        sum = __dp4a(a[stage].x, b.x, sum);
        sum = __dp4a(a[stage].y, b.y, sum);
        sum = __dp4a(a[stage].z, b.z, sum);
        sum = __dp4a(a[stage].w, b.w, sum);
    }
#pragma unroll
    for (int distance = 1; distance < lanes_per_row; distance *= 2)
        sum += __shfl_xor_sync(all_lanes, sum, distance);
    return sum;
}

/// Calls `launch` with the number of stages as a constant.
template <class Launch>
void with_row_stages(const ByteRows& train, const ByteRows& query, const Launch& launch) {
    require(train.aligned(16) && query.aligned(16) && train.pitch_bytes == query.pitch_bytes &&
                train.pitch_bytes <= most_row_stages * row_stage_bytes,
            "rows of at most 1,024 bytes at multiples of 16");
    if (train.pitch_bytes <= 2 * row_stage_bytes)
        launch(std::integral_constant<int, 2>{});
    else if (train.pitch_bytes <= 6 * row_stage_bytes)
        launch(std::integral_constant<int, 6>{});
    else
        launch(std::integral_constant<int, most_row_stages>{});
}

/// Copies n rows of `pieces` uint4 to rows of `padded` in shared memory, zero beyond. By `threads` of them, this being `thread`.
__device__ inline void copy_rows(const std::uint8_t* d_from, int n, int pieces, int padded, uint4* to,
                                 int thread, int threads) {
    for (int i = thread; i < n * padded; i += threads) {
        const int row = i / padded, piece = i % padded;
        to[i] = piece < pieces ? reinterpret_cast<const uint4*>(d_from)[row * pieces + piece]
                               : make_uint4(0, 0, 0, 0);
    }
}

}  // namespace knn::gpu
