#pragma once
/// A bitonic network in shared memory for a team of threads: a warp, or a whole block.

#include <cassert>

#include "gpu/select/warp_minimum.cuh"

namespace knn::gpu {

/// Team of `team` threads: warp_size, or all threads of the block.
template <int team>
__device__ void team_sync() {
    if constexpr (team == warp_size)
        __syncwarp();
    else
        __syncthreads();
}

/// Sorts values[0 .. size − 1] ascending; size is a power of two. By the whole team, of which this is thread
/// `member`; what was written before must have been synchronized, and the result is.
template <int team, class Value>
__device__ void team_sort(Value* values, int size, int member) {
    assert(size > 0 && (size & (size - 1)) == 0 && member >= 0 && member < team);
    for (int length = 2; length <= size; length *= 2)
        for (int step = length / 2; step > 0; step /= 2) {
            for (int pair = member; pair < size / 2; pair += team) {
                const int i = 2 * pair - (pair & (step - 1)), j = i + step;
                const Value a = values[i], b = values[j];
                if ((a > b) == ((i & length) == 0)) {
                    values[i] = b;
                    values[j] = a;
                }
            }
            team_sync<team>();
        }
}

/// The least power of two that is at least n, n >= 1.
__device__ inline int power_of_two_from(int n) {
    assert(n <= 1 << 30);
    return n <= 1 ? 1 : 1 << (32 - __clz(n - 1));
}

}  // namespace knn::gpu
