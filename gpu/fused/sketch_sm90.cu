// Lists the pairs that sketches do not exclude (sketches.h), on the 8-bit tensor cores of compute capability 9.0.
//
// train       sketches in tile order: 128 bytes without sign, the last four of which have V
// query       sketches: 128 signed bytes, the last four of which multiply V
// survivors   for each 16 queries and slot a list of row << 28 | position
//
// launch    one block per multiprocessor: a thread that issues the bulk copies, and four consumer warp groups, each with 64
//           of the block's 256 queries in registers for all tiles of a piece
// shared    a ring of stages: 128 training sketches each, half a tile
// stage     256 × 128 pairs. sums: 64 × 128 per warp group, 64 registers per thread, in 4 wgmma
// compare   limit − 1 − sum is negative where a pair survives. Multiply-adds subtract, because the pipe for integer additions
//           and comparisons is the one that shifts the signs into a mask of 32. The survivors of a warp go to one list, side
//           by side, without atomics: they are few, and lists of single queries cost a sector of the L2 cache for each
// exact     |sums| <= 124 · 127 · 255 + 98,047 < 2²³
// bound by  instructions: about 300 of a warp for 64 × 32 pairs of a thread's, beside 256 cycles of the tensor cores
// source    the design is this project's; instructions: PTX ISA 8.0

#include <cassert>

#include "gpu/fused/hopper.cuh"
#include "gpu/fused/sketches.h"
#include "gpu/fused/tensor_map.h"

namespace knn::gpu {

namespace {

[[maybe_unused]] constexpr int group_threads = 128, consumer_groups = sketch_queries / 64,
                               threads = (consumer_groups + 1) * group_threads;
[[maybe_unused]] constexpr int stage_rows = 128, stage_bytes = stage_rows * sketch_columns,
                               stages_per_tile = tile_train / stage_rows;
[[maybe_unused]] constexpr int ring = 8, shared_bytes = ring * stage_bytes +
                                                        2 * ring * static_cast<int>(sizeof(std::uint64_t));
[[maybe_unused]] constexpr int steps = sketch_columns / 32;

/// Parameters of the kernel that are no arrays. minus_one: see `below`.
struct SketchArguments {
    SketchPass pass;
    std::int32_t minus_one;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDA_ARCH__)

using namespace hopper;

/// limit − sum by a multiply-add: with a constant −1 the compiler would subtract.
__device__ inline int below(int limit, int sum, int minus_one) {
    int difference;
    asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(difference) : "r"(sum), "r"(minus_one), "r"(limit));
    return difference;
}

/// The list of a warp's 16 queries for one piece.
class WarpList {
  public:
    __device__ WarpList(const SketchLists& lists, std::int64_t queries, int slot)
        : list_(queries * lists.slots + slot),
          capacity_(lists.capacity),
          d_survivors_(lists.d_survivors + list_ * lists.capacity) {}

    /// Adds the pairs in the masks of all lanes, the highest bit first: bit 31 − i is that of sums[i] of a half.
    /// survivor: that of sums[0].
    __device__ void add(unsigned mask, std::uint32_t survivor, int lane) {
        for (unsigned lanes = __ballot_sync(all_lanes, mask != 0); lanes != 0;
             lanes = __ballot_sync(all_lanes, mask != 0)) {
            const int at = count_ + __popc(lanes & ((1u << lane) - 1));
            if (mask != 0) {
                const auto i = static_cast<unsigned>(__clz(static_cast<int>(mask)));
                mask &= ~(0x80000000u >> i);
                // Column 8 · (i / 4) + i % 2, and 8 rows down if i / 2 is odd.
                if (at < capacity_) d_survivors_[at] = survivor + 8 * (i >> 2) + (i & 1) + ((i & 2) << 30);
            }
            count_ += __popc(lanes);
        }
    }
    __device__ void close(const SketchLists& lists, int lane) const {
        if (lane == 0) lists.d_counts[list_] = count_;
    }

  private:
    std::int64_t list_;
    int count_ = 0, capacity_;
    std::uint32_t* d_survivors_;
};

/// The mask of 32 of the sums, from `first` on: bit 31 − i is set if sums[first + i] reaches the limit of its row. The limits are one
/// less.
template <int first>
__device__ inline unsigned survivors_in(const int (&sums)[64], int upper, int lower, int minus_one) {
    unsigned mask = 0;
#pragma unroll
    for (int i = 0; i < 32; ++i)
        mask = __funnelshift_l(
            static_cast<unsigned>(below((i & 2) != 0 ? lower : upper, sums[first + i], minus_one)), mask, 1);
    return mask;
}

/// One less than the limit of a query, which may be one that only pads a tile.
__device__ int limit_before(const SketchPass& pass, std::int64_t query) {
    std::int32_t limit = closed_threshold;
    if (query < pass.n_query)
        limit = SketchThreshold(pass.bound, pass.d_query_terms[query], pass.d_query_norms[query],
                                pass.d_thresholds[query])
                    .limit;
    return (limit == closed_threshold ? 1 << 30 : limit) - 1;  // differences stay within 32 bits
}

__device__ void produce_stages(const CUtensorMap& train_map, const SketchPass& pass, std::uint8_t* stages,
                               std::uint64_t* full, std::uint64_t* empty) {
    Pieces pieces(pass.schedule, static_cast<int>(blockIdx.x));
    int slot = 0;
    std::uint32_t parity = 1;
    for (Piece piece; pieces.next(piece);)
        for (int stage = stages_per_tile * piece.first_tile;
             stage < stages_per_tile * (piece.first_tile + piece.n_tiles); ++stage) {
            wait(&empty[slot], parity);
            arrive_expecting(&full[slot], stage_bytes);
            copy_box(stages + slot * stage_bytes, &train_map, 0, stage * stage_rows, &full[slot]);
            if (++slot == ring) {
                slot = 0;
                parity ^= 1;
            }
        }
}

__device__ void list_survivors(const SketchArguments& arguments, const std::uint8_t* stages,
                               std::uint64_t* full, std::uint64_t* empty, int group) {
    const SketchPass& pass = arguments.pass;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const int first_row = 64 * group + 16 * warp, member = lane % quad;
    const std::uint64_t b = operand(shared_address(stages));
    int slot = 0;
    std::uint32_t parity = 0;
    int sums[64];
#pragma unroll
    for (int& sum : sums)
        sum = 0;
    Pieces pieces(pass.schedule, static_cast<int>(blockIdx.x));
    for (Piece piece; pieces.next(piece);) {
        const std::int64_t first_query = std::int64_t{piece.query_tile} * sketch_queries + first_row;
        const std::int64_t query = first_query + lane / quad;
        std::uint32_t a[steps][4];
        const auto* words =
            reinterpret_cast<const std::uint32_t*>(pass.d_query + query * sketch_columns) + member;
#pragma unroll
        for (int k = 0; k < steps; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                a[k][i] = words[i % 2 * 8 * sketch_columns / 4 + 8 * k + i / 2 * 4];
        const int upper = limit_before(pass, query), lower = limit_before(pass, query + 8);
        WarpList list(pass.lists, first_query / queries_per_list, piece.slot);
        const int begin = stages_per_tile * piece.first_tile, end = begin + stages_per_tile * piece.n_tiles;
        std::uint32_t survivor = static_cast<std::uint32_t>(lane / quad) << 28 |
                                 static_cast<std::uint32_t>(begin * stage_rows + 2 * member);
        for (int stage = begin; stage < end; ++stage, survivor += stage_rows) {
            wait(&full[slot], parity);
            begin_products();
#pragma unroll
            for (int k = 0; k < steps; ++k)
                multiply_128(sums, a[k], b + static_cast<std::uint64_t>(slot * (stage_bytes >> 4) + 2 * k),
                             k > 0);
            commit_products();
            wait_products<0>();
            products_are_done(sums);
            if (lane == 0) arrive(&empty[slot]);
            if (++slot == ring) {
                slot = 0;
                parity ^= 1;
            }
            list.add(survivors_in<0>(sums, upper, lower, arguments.minus_one), survivor, lane);
            list.add(survivors_in<32>(sums, upper, lower, arguments.minus_one), survivor + stage_rows / 2,
                     lane);
        }
        list.close(pass.lists, lane);
    }
}

#endif

__global__ void __launch_bounds__(threads, 1)
    sketch_sm90_kernel(const __grid_constant__ CUtensorMap train_map,
                       const __grid_constant__ SketchArguments arguments) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) std::uint8_t stages[];
    assert(shared_address(stages) % 1024 == 0 && blockDim.x == threads);
    auto* full = reinterpret_cast<std::uint64_t*>(stages + ring * stage_bytes);
    std::uint64_t* empty = full + ring;
    if (threadIdx.x == 0) {
        for (int slot = 0; slot < ring; ++slot) {
            init_barrier(&full[slot], 1);
            init_barrier(&empty[slot], 4 * consumer_groups);
        }
        publish_barriers();
    }
    __syncthreads();
    const int group = static_cast<int>(threadIdx.x) / group_threads;
    if (group == 0) {
        give_registers_away<24>();
        if (threadIdx.x == 0) produce_stages(train_map, arguments.pass, stages, full, empty);
    } else {
        take_registers<112>();
        list_survivors(arguments, stages, full, empty, group - 1);
    }
#endif
}

}  // namespace

void enqueue_sketch_search(const SketchPass& pass, std::int64_t train_rows, cudaStream_t stream) {
    require(train_rows % tile_train == 0 && train_rows <= most_sketched &&
                std::int64_t{pass.schedule.first_tile + pass.schedule.train_tiles} * tile_train <= train_rows,
            "whole tiles of at most 268,435,456 training images");
    require(pass.lists.capacity >= 1 && pass.schedule.slots() <= pass.lists.slots, "a list for each piece");
    const ByteRows rows{const_cast<std::uint8_t*>(pass.d_train), train_rows, sketch_columns, sketch_columns};
    allow_shared(sketch_sm90_kernel, shared_bytes);
    sketch_sm90_kernel<<<static_cast<unsigned>(pass.schedule.blocks), threads, shared_bytes, stream>>>(
        tensor_map(rows, stage_rows), {pass, -1});
    check_launch("launching sketch_sm90");
}

void load_sketch_search() {
    load_kernels(sketch_sm90_kernel);
}

}  // namespace knn::gpu
