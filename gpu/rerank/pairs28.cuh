#pragma once
/// What distortion28 and cells28 share. A block of 4 warps has a query; a warp takes every fourth group of 4
/// candidates, 8 lanes each. Descriptors have 1,792 bytes and come in two halves, of which one is copied to shared
/// memory while the other is compared.

#include <cuda_pipeline.h>

#include "gpu/rerank/kernels.h"
#include "gpu/runtime/warp.cuh"

namespace knn::gpu::pairs28 {

inline constexpr int side = side28;
inline constexpr int warps = 4, threads = warps * warp_size, min_blocks = 4;
inline constexpr int lanes = 8, at_once = warp_size / lanes;
inline constexpr int half_bytes = bytes28 / 2, piece_bytes = 16, pieces = half_bytes / piece_bytes / lanes;
/// Lanes of the four candidates that read a word each have different banks.
inline constexpr int slot_bytes = half_bytes + 32;

/// A warp's shared memory.
struct Memory {
    alignas(piece_bytes) std::uint8_t halves[2][at_once][slot_bytes];
};

struct Lane {
    int warp, pair, in_pair;  ///< in_pair: 0..7

    __device__ Lane() {
        // From a lane, so that the compiler knows that the warp's lanes take the same branches.
        warp = __shfl_sync(all_lanes, static_cast<int>(threadIdx.x) / warp_size, 0);
        pair = static_cast<int>(threadIdx.x) % warp_size / lanes;
        in_pair = static_cast<int>(threadIdx.x) % lanes;
    }
};

/// A warp's candidates, group after group.
class Candidates {
  public:
    __device__ Candidates(const PairTask& task, Memory& memory, const Lane& lane)
        : task_(task),
          row_(task.candidates.d_data + blockIdx.x * std::int64_t{task.candidates.k}),
          memory_(memory),
          lane_(lane),
          group_(lane.warp),
          groups_((task.candidates.k + at_once - 1) / at_once) {}

    __device__ bool done() const { return group_ >= groups_; }
    __device__ void advance() { group_ += warps; }

    /// Copies of the first group.
    __device__ void start() {
        copy(group_, 0);
        copy(group_, 1);
    }
    /// A copy of the next group's half, where this group's was. Called once for each half of each group.
    __device__ void start_next(int half) {
        __syncwarp();
        copy(group_ + warps, half);
    }
    /// All but the last copy have arrived, for the whole warp.
    __device__ void await() const {
        __pipeline_wait_prior(1);
        __syncwarp();
    }
    /// Of this lane's candidate.
    __device__ const std::uint8_t* half(int which) const { return memory_.halves[which][lane_.pair]; }

    /// Writes the distances: the sum of the parts of a candidate's lanes.
    __device__ void write(int part) const {
#pragma unroll
        for (int step = lanes / 2; step > 0; step /= 2)
            part += __shfl_xor_sync(all_lanes, part, step);
        const int candidate = group_ * at_once + lane_.pair;
        if (lane_.in_pair == 0 && candidate < task_.candidates.k) {
            std::uint32_t* score = task_.d_scores + blockIdx.x * std::int64_t{task_.candidates.k} + candidate;
            *score = (task_.add ? *score : 0) + static_cast<std::uint32_t>(part);
        }
    }

  private:
    /// Nothing if there is no such group; of candidates that there are not, the last one.
    __device__ void copy(int group, int half) const {
        if (group < groups_) {
            const std::int64_t index = row_[min(group * at_once + lane_.pair, task_.candidates.k - 1)].index;
            const std::uint8_t* from =
                task_.d_train + index * bytes28 + half * half_bytes + lane_.in_pair * piece_bytes;
            std::uint8_t* to = memory_.halves[half][lane_.pair] + lane_.in_pair * piece_bytes;
#pragma unroll
            for (int i = 0; i < pieces; ++i)
                __pipeline_memcpy_async(to + i * lanes * piece_bytes, from + i * lanes * piece_bytes,
                                        piece_bytes);
        }
        __pipeline_commit();
    }

    const PairTask& task_;
    const Neighbor* row_;
    Memory& memory_;
    const Lane& lane_;
    int group_, groups_;
};

}  // namespace knn::gpu::pairs28
