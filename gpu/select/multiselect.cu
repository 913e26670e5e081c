// Quick multi-select (seed 001): repeatedly partitions a row by a pivot until the k smallest are left of the pivots.
//
// workspace  two arrays of n_train keys: each pass copies a part of the row from one array to the other
// launch     one warp per row, 4 rows per block, for many short rows; else one block of 256 threads per row. The seed decides
//            by the number of rows alone; on one H200 a block was faster for many rows, too, if they were longer than 2,048.
//            Warp ballots and population counts partition a tile of keys in shared memory, which is written to both ends of
//            the other array. A pass reads the part once.
// pivot      `multiselect_random`: a key at random, as in the seed; if it was the smallest, so that nothing is below it,
//            the next is the larger of two. Here, `multiselect`, it is a key of a sample, chosen so that slightly more
//            than k keys are below it: about 2 passes instead of log₂(n_train / k), the second over a small part.
// shared     a tile or 2 k keys, whichever is larger: 2 to 16 KiB per warp, 16 KiB per block
// order      keys are distance << 32 | index, all different, so ties and constant rows need no special case
// work       4 · n_train bytes read and 8 · n_train written per row, and a tenth of that for the second pass

#include <algorithm>
#include <cassert>

#include "gpu/runtime/warp.cuh"
#include "gpu/select/select.h"
#include "gpu/select/topk.cuh"

namespace knn::gpu {

namespace {

constexpr int block_warps = 8;     // with one block per row
constexpr int rows_per_block = 4;  // with one warp per row
constexpr std::int64_t max_warp_row = 2048;

/// A part of a row that is still to be partitioned: `count` keys from index `begin` of the matrix row
/// (array −1) or of one of the two arrays in the workspace.
struct Part {
    int array;
    unsigned begin, count;
};

/// How a pivot is chosen.
enum class Pivot {
    sampled,  ///< from a sample, so that slightly more than the wanted number of keys are below it
    random    ///< any key of the part, as in the seed
};

/// The threads that share a row: 1 warp, or all 8 of a block.
template <int warps>
struct Group {
    static constexpr int threads = warps * warp_size;
    static constexpr int per_thread = 8;                       // keys per thread and tile
    static constexpr int tile = threads * per_thread;          // keys in shared memory at a time
    static constexpr int sample = warps == 1 ? 128 : threads;  // keys from which the pivot is chosen

    __device__ static int rank() { return static_cast<int>(threadIdx.x) % threads; }
    __device__ static void sync() { synchronize<threads>(); }
};

/// Keys in shared memory per group: its tile, its sample, and the part that is sorted at the end. The latter
/// has 2 k keys: smaller parts need no further partitioning, and a left part smaller than k, which is kept,
/// can be sorted and written at once.
template <int warps>
int capacity_for(int k) {
    int capacity = std::max(Group<warps>::tile, Group<warps>::sample);
    while (capacity < 2 * k)
        capacity *= 2;
    return capacity;
}

template <int warps, Pivot pivot>
struct Select {
    using Threads = Group<warps>;

    NeighborKey* shared;  // `capacity` keys, a power of two
    unsigned capacity;
    int* counts;  // 2 · warps, in shared memory
    const std::uint32_t* d_row;
    NeighborKey* d_array[2];  // of n_train keys
    unsigned seed;            // of random pivots

    /// The k smallest keys in order. The part right of a pivot is remembered by its range, not copied. One entry is enough,
    /// because a left part with too few keys fits in shared memory and is sorted at once.
    __device__ void run(unsigned n_train, unsigned k, Neighbor* d_out) {
        assert(k <= n_train && 2 * k <= capacity && (capacity & (capacity - 1)) == 0);
        assert(capacity >= Threads::tile && capacity >= Threads::sample);
        Part part{-1, 0, n_train}, rest{};
        bool again = false;  // the last pivot was the smallest key, and nothing is left of it
        for (unsigned done = 0, round = 0; done < k; ++round) {
            assert(part.count > 0 && part.begin + part.count <= n_train);
            if (part.count > capacity) {
                const unsigned left_count =
                    divide(part, pivot == Pivot::random ? random_pivot(part, round, again)
                                                        : sampled_pivot(part, k - done, round));
                assert(left_count < part.count && (left_count > 0 || (pivot == Pivot::random && !again)));
                if constexpr (pivot == Pivot::random) {
                    again = left_count == 0;
                    if (again) continue;  // the part is still where it was
                }
                const int array = part.array == 0 ? 1 : 0;
                rest = {array, part.begin + left_count, part.count - left_count};
                part = {array, part.begin, left_count};
            } else {
                const unsigned found = min(k - done, part.count);
                sort(part);
                for (unsigned i = Threads::rank(); i < found; i += Threads::threads)
                    d_out[done + i] = neighbor_of(shared[i]);
                Threads::sync();
                done += found;
                part = rest;
            }
        }
    }

    __device__ NeighborKey load(const Part& part, unsigned i) const {
        return part.array < 0 ? key_of(d_row[i], i) : d_array[part.array][part.begin + i];
    }

    /// A key of the part with at least one and about `need` smaller ones: the key of the matching rank in a
    /// stratified random sample. Two standard deviations above, because too small a left part costs more than
    /// one that is too large.
    __device__ NeighborKey sampled_pivot(const Part& part, unsigned need, unsigned round) {
        constexpr int sample = Threads::sample;
        for (int i = Threads::rank(); i < sample; i += Threads::threads) {
            const auto begin = static_cast<unsigned>(std::uint64_t{part.count} * i / sample),
                       end = static_cast<unsigned>(std::uint64_t{part.count} * (i + 1) / sample);
            assert(begin < end);
            const unsigned random = (i + 1 + sample * round) * 2654435761u;
            shared[i] = load(part, begin + (random >> 8) % (end - begin));
        }
        Threads::sync();
        const float expected = static_cast<float>(need) / static_cast<float>(part.count) * sample;
        const int wanted = min(static_cast<int>(ceilf(expected + 2 * sqrtf(expected))) + 1, sample - 1);
        for (int i = Threads::rank(); i < sample; i += Threads::threads) {
            int rank = 0;
            for (int j = 0; j < sample; ++j)
                rank += shared[j] < shared[i] ? 1 : 0;
            if (rank == wanted) counts[0] = i;  // keys are all different: one thread
        }
        Threads::sync();
        const NeighborKey chosen = shared[counts[0]];
        Threads::sync();  // all have read it before shared memory is reused
        return chosen;
    }

    /// A key of the part, the same for all threads. `again`: the larger of two, which is not the smallest key.
    __device__ NeighborKey random_pivot(const Part& part, unsigned round, bool again) const {
        unsigned random = (seed + 1) * 2654435761u + round * 0x9e3779b9u;  // finalizer of MurmurHash3
        random = (random ^ (random >> 16)) * 0x85ebca6bu;
        random = (random ^ (random >> 13)) * 0xc2b2ae35u;
        const unsigned place = (random ^ (random >> 16)) % part.count;
        const NeighborKey key = load(part, place);
        return again ? max(key, load(part, (place + 1) % part.count)) : key;
    }

    /// One pass: copies the part to the other array, keys below the pivot `bound` from the left end, the others from
    /// the right end; returns how many are below. Tiles are partitioned in shared memory first, so that each
    /// side is written contiguously.
    __device__ unsigned divide(const Part& part, NeighborKey bound) {
        NeighborKey* d_to = d_array[part.array == 0 ? 1 : 0];
        unsigned left = part.begin, right = part.begin + part.count;  // write positions
        for (unsigned begin = 0; begin < part.count; begin += Threads::tile) {
            const unsigned size = min(unsigned{Threads::tile}, part.count - begin);
            NeighborKey key[Threads::per_thread];
#pragma unroll
            for (int i = 0; i < Threads::per_thread; ++i) {
                const unsigned place = i * Threads::threads + Threads::rank();
                key[i] = place < size ? load(part, begin + place) : no_key;
            }
            const unsigned below = stage(key, bound, size);
            assert(below <= size);
            for (unsigned i = Threads::rank(); i < size; i += Threads::threads)
                d_to[i < below ? left + i : right - size + i] = shared[i];
            left += below;
            right -= size - below;
            Threads::sync();  // the tile has been read
        }
        assert(left == right);
        return left - part.begin;
    }

    /// Partitions a tile in shared memory by warp ballots and population counts: keys below the pivot first,
    /// the others last, in any order; returns how many are below.
    __device__ unsigned stage(const NeighborKey (&key)[Threads::per_thread], NeighborKey bound,
                              unsigned size) {
        const unsigned lane = threadIdx.x % warp_size, warp = Threads::rank() / warp_size;
        const unsigned lower_lanes = (1u << lane) - 1;
        unsigned valid[Threads::per_thread], low[Threads::per_thread], n_low = 0, n_high = 0;
#pragma unroll
        for (int i = 0; i < Threads::per_thread; ++i) {
            valid[i] = __ballot_sync(all_lanes, i * Threads::threads + Threads::rank() < size);
            low[i] = __ballot_sync(all_lanes, key[i] < bound);  // no_key is above every pivot
            n_low += __popc(low[i]);
            n_high += __popc(valid[i] & ~low[i]);
        }
        unsigned low_begin = 0, high_end = size, below = n_low;
        if constexpr (warps > 1) {
            if (lane == 0) {
                counts[2 * warp] = static_cast<int>(n_low);
                counts[2 * warp + 1] = static_cast<int>(n_high);
            }
            Threads::sync();
            below = 0;
#pragma unroll
            for (unsigned w = 0; w < warps; ++w) {
                below += counts[2 * w];
                low_begin += w < warp ? counts[2 * w] : 0;
                high_end -= w < warp ? counts[2 * w + 1] : 0;
            }
        }
#pragma unroll
        for (int i = 0; i < Threads::per_thread; ++i) {
            const unsigned high = valid[i] & ~low[i];
            assert(low_begin + __popc(low[i]) <= size && __popc(high) <= high_end && high_end <= size);
            if (low[i] >> lane & 1) shared[low_begin + __popc(low[i] & lower_lanes)] = key[i];
            if (high >> lane & 1) shared[high_end - 1 - __popc(high & lower_lanes)] = key[i];
            low_begin += __popc(low[i]);
            high_end -= __popc(high);
        }
        Threads::sync();
        return below;
    }

    /// Loads a part that fits in shared memory and sorts it, by a bitonic sort padded to a power of two.
    __device__ void sort(const Part& part) {
        int size = warp_size;
        while (size < static_cast<int>(part.count))
            size *= 2;
        assert(size <= static_cast<int>(capacity));
        for (int i = Threads::rank(); i < size; i += Threads::threads)
            shared[i] = i < static_cast<int>(part.count) ? load(part, i) : no_key;
        for (int length = 2; length <= size; length *= 2)
            merge_stage<Threads::threads>(shared, size, length);
        Threads::sync();
    }
};

/// Grid: groups of `rows` rows (1 if all warps of the block share a row). d_arrays: two of n_train keys per
/// row.
template <int warps, int rows, Pivot pivot>
__global__ void __launch_bounds__(Group<warps>::threads* rows)
    multiselect_kernel(DistanceRows in, NeighborRows out, int capacity, NeighborKey* d_arrays) {
    extern __shared__ NeighborKey shared[];
    __shared__ int counts[rows][2 * warps];
    const int group = static_cast<int>(threadIdx.x) / Group<warps>::threads;
    const std::int64_t row = std::int64_t{blockIdx.x} * rows + group;
    if (row >= in.n) return;  // a whole group
    NeighborKey* d_own = d_arrays + 2 * row * in.cols;
    Select<warps, pivot> select{
        shared + group * capacity, static_cast<unsigned>(capacity), counts[group], in.row(row),
        {d_own, d_own + in.cols},  static_cast<unsigned>(row)};
    select.run(static_cast<unsigned>(in.cols), static_cast<unsigned>(out.k), out.d_data + row * out.k);
}

template <int warps, int rows, Pivot pivot>
void launch_rows(const Selection& of) {
    const auto kernel = multiselect_kernel<warps, rows, pivot>;
    const int capacity = capacity_for<warps>(of.out.k);
    const int shared_bytes = rows * capacity * static_cast<int>(sizeof(NeighborKey));
    allow_shared(kernel, shared_bytes);
    kernel<<<grid_size(divide_up(of.in.n, rows)), Group<warps>::threads * rows,
             static_cast<std::size_t>(shared_bytes), of.stream>>>(of.in, of.out, capacity,
                                                                  of.workspace<NeighborKey>());
}

template <Pivot pivot>
void launch_multiselect(const Selection& of) {
    const bool warp_per_row =
        of.in.cols <= max_warp_row && of.in.n >= device_attribute(cudaDevAttrMultiProcessorCount);
    (warp_per_row ? launch_rows<1, rows_per_block, pivot> : launch_rows<block_warps, 1, pivot>)(of);
}

constexpr SelectorOptions options{
    .row_bytes = [](const Problem& problem) { return 2 * key_bytes * problem.n_train; },
    .workspace_goal = std::int64_t{4} << 30,
    .max_train = max_positions};

}  // namespace

extern const Selector multiselect_selector(
    "multiselect", "quick multi-select: pivots, warp ballots, a warp or a block per row",
    launch_multiselect<Pivot::sampled>, options);
extern const Selector multiselect_random_selector("multiselect_random",
                                                  "the same with random pivots instead of sampled ones",
                                                  launch_multiselect<Pivot::random>, options);

}  // namespace knn::gpu
