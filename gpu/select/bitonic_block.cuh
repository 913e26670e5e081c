#pragma once
/// The part of a bitonic sort within one block: up to 16,384 keys, 32 in registers per thread.
///
/// A key's index e in the block has log_keys bits. At any time a thread holds the 32 keys whose indices
/// differ in 5 adjacent bits, the window; steps of those 5 distances need no communication. Between windows
/// the keys are exchanged through shared memory. Key e is stored at e ^ ((e >> 5) & 15), so that 16
/// consecutive threads access 16 different pairs of banks for every window.
///
/// Stage s merges runs of 2^(s−1) keys into runs of 2^s, ascending where bit s of the index in the whole row
/// is 0; its level l compares indices that differ in bit l.

#include <cooperative_groups.h>

#include <cassert>
#include <cstdint>

#include "data/core/neighbors.h"

namespace knn::gpu::bitonic {

/// distance << 26 | index. The upper 6 bits stay 0, so a key read as a double is finite and not negative, and
/// doubles order such bit patterns as integers do.
using Key = unsigned long long;
inline constexpr int index_bits = 26;
inline constexpr Key sentinel =
    (Key{1} << (32 + index_bits)) | (Key{1} << (32 + index_bits)) - 1;  // above every key
inline constexpr int log_window = 5;
inline constexpr int window_keys = 1 << log_window;

__device__ inline Key make_key(std::uint32_t distance, int index) {
    return Key{distance} << index_bits | static_cast<unsigned>(index);
}
__device__ inline Neighbor neighbor_of(Key key) {
    constexpr Key index_mask = (Key{1} << index_bits) - 1;
    return {static_cast<std::uint32_t>(key >> index_bits), static_cast<std::uint32_t>(key & index_mask)};
}

/// a > b. One instruction of the otherwise idle FP64 unit on cards with full FP64 rate, else two integer
/// ones.
__device__ inline bool greater(Key a, Key b) {
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900
    return __longlong_as_double(static_cast<long long>(a)) > __longlong_as_double(static_cast<long long>(b));
#else
    return a > b;
#endif
}

__device__ inline void compare_exchange(Key& a, Key& b, bool ascending) {
    const bool swap = greater(a, b) == ascending;
    const Key low = swap ? b : a;
    b = swap ? a : b;
    a = low;
}

template <int log_keys>
class BlockSort {
  public:
    /// shared: 2^log_keys keys; piece: the part of the row that this block holds.
    __device__ BlockSort(Key* shared, unsigned piece)
        : shared_(shared), piece_begin_(static_cast<int>(piece) << log_keys) {
        assert(blockDim.x == 1u << (log_keys - log_window));
        move_window(top_shift);
    }

    /// Loads this piece's distances of a row of n; the sentinel beyond its end.
    __device__ void load(const std::uint32_t* d_row, int n) {
        assert(n <= 1 << index_bits);
#pragma unroll
        for (int r = 0; r < window_keys; ++r) {
            const int index = piece_begin_ + position(r);
            key_[r] = index < n ? make_key(d_row[index], index) : sentinel;
        }
    }

    /// Loads, or stores, this piece of a row of keys.
    __device__ void load(const Key* d_row) {
#pragma unroll
        for (int r = 0; r < window_keys; ++r)
            key_[r] = d_row[piece_begin_ + position(r)];
    }
    __device__ void store(Key* d_row) {
        change_window(top_shift);
#pragma unroll
        for (int r = 0; r < window_keys; ++r)
            d_row[piece_begin_ + position(r)] = key_[r];
    }

    /// Stages 1 to log_keys: the block's keys become one run.
    __device__ void sort_block() {
        change_window(0);
        sort_window();
        for (int stage = log_window + 1; stage <= log_keys; ++stage)
            merge_block(stage);
    }

    /// The levels of `stage` within the block.
    __device__ void merge_block(int stage) {
        for (int top = min(stage, log_keys) - 1; top >= 0; top -= log_window) {
            const int shift = max(top - log_window + 1, 0);
            if (shift != shift_) change_window(shift);
            merge_window(top - shift, ascending(stage));
        }
    }

    /// A level between blocks of the cluster: compares with the partner's key of the same index and keeps one
    /// of the two. Uses the window in which consecutive threads hold consecutive keys, because distributed
    /// shared memory transfers units of 32 bytes.
    __device__ void exchange_blocks(int stage, int level) {
#if __CUDA_ARCH__ >= 900
        auto cluster = cooperative_groups::this_cluster();
        assert(level >= log_keys && level < stage);
        const unsigned bit = 1u << (level - log_keys);
        assert((cluster.block_rank() ^ bit) < cluster.num_blocks());
        put_window();
        cluster.sync();
        move_window(top_shift);
        const Key* theirs = cluster.map_shared_rank(shared_, cluster.block_rank() ^ bit);
        const bool keep_smaller = ((cluster.block_rank() & bit) == 0) == ascending(stage);
        const Slots slots(first_slot_, shift_);
#pragma unroll
        for (int r = 0; r < window_keys; ++r) {
            const Key mine = shared_[slots.of[r]], other = theirs[slots.of[r]];
            key_[r] = greater(mine, other) == keep_smaller ? other : mine;
            if (r % 8 == 7) asm volatile("" ::: "memory");  // more loads in flight would spill registers
        }
        cluster.sync();  // partners have read the keys
#endif
    }

    /// The first k keys of the row, from the block that holds them.
    __device__ void write_first(Neighbor* d_out, int k) {
#pragma unroll
        for (int r = 0; r < window_keys; ++r) {
            const int rank = piece_begin_ + position(r);
            if (rank < k) d_out[rank] = neighbor_of(key_[r]);
        }
    }

  private:
    static constexpr int top_shift = log_keys - log_window;

    __device__ int position(int r) const {
        return first_ | (r << shift_);
    }
    __device__ static constexpr int lowest_bit(int r) {
        return (r & 1) != 0 ? 0 : 1 + lowest_bit(r >> 1);
    }
    __device__ static int swizzle(int e) {
        return e ^ ((e >> log_window) & 15);
    }
    __device__ bool ascending(int stage) const {
        return (((piece_begin_ + first_) >> stage) & 1) == 0;
    }

    __device__ void move_window(int shift) {
        const int thread = static_cast<int>(threadIdx.x);
        assert(shift >= 0 && shift <= top_shift);
        const int low = thread & ((1 << shift) - 1);
        shift_ = shift;
        first_ = ((thread >> shift) << (shift + log_window)) | low;
        first_slot_ = swizzle(first_);
    }
    /// Shared-memory slots of the window's keys. swizzle() is linear in the bits, so slots differ by an XOR;
    /// `shift` is hidden from the compiler, which would otherwise keep all slots in registers.
    struct Slots {
        int of[window_keys];
        __device__ Slots(int first, int shift) {
            asm volatile("" : "+r"(shift));
            of[0] = first;
            int step[log_window];
#pragma unroll
            for (int bit = 0; bit < log_window; ++bit)
                step[bit] = swizzle(1 << (shift + bit));
#pragma unroll
            for (int r = 1; r < window_keys; ++r)
                of[r] = of[r & (r - 1)] ^ step[lowest_bit(r)];
        }
    };

    __device__ void put_window() {
        const Slots slots(first_slot_, shift_);
#pragma unroll
        for (int r = 0; r < window_keys; ++r)
            shared_[slots.of[r]] = key_[r];
    }
    /// One barrier is enough: a thread writes only slots that it alone read last.
    __device__ void change_window(int shift) {
        put_window();
        __syncthreads();
        move_window(shift);
        const Slots slots(first_slot_, shift_);
#pragma unroll
        for (int r = 0; r < window_keys; ++r)
            key_[r] = shared_[slots.of[r]];
    }

    /// Stages 1 to 5 in the thread's registers; the window is at bit 0.
    __device__ void sort_window() {
#pragma unroll
        for (int stage = 1; stage <= log_window; ++stage)
#pragma unroll
            for (int level = stage - 1; level >= 0; --level)
#pragma unroll
                for (int r = 0; r < window_keys; ++r)
                    if ((r >> level & 1) == 0)
                        compare_exchange(key_[r], key_[r | 1 << level],
                                         stage < log_window ? (r >> stage & 1) == 0 : ascending(log_window));
    }

    /// Levels `top` to 0 of the window.
    __device__ void merge_window(int top, bool up) {
#pragma unroll
        for (int level = log_window - 1; level >= 0; --level) {
            if (level > top) continue;
#pragma unroll
            for (int r = 0; r < window_keys; ++r)
                if ((r >> level & 1) == 0) compare_exchange(key_[r], key_[r | 1 << level], up);
        }
    }

    Key* shared_;
    int piece_begin_;  // in the row
    Key key_[window_keys];
    int shift_ = 0, first_ = 0, first_slot_ = 0;
};

}  // namespace knn::gpu::bitonic
