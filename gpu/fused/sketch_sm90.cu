// Lists the pairs that sketches do not exclude (sketches.h), on the 8-bit tensor cores of compute capability 9.0.
//
// train       sketches in tile order: 128 bytes without sign, the last four of which have V
// query       sketches: 128 signed bytes, the last four of which multiply V
// survivors   search: for each 8 queries and slot a list of masks (Survivors)
// maxima      sample: for each query and slot 32 (sketch_maxima)
//
// launch    one block per multiprocessor: a thread that issues the bulk copies, and four consumer warp groups, each with 64
//           of the block's 256 queries in registers for all tiles of a piece
// shared    a ring of stages: 128 training sketches each, half a tile
// stage     256 × 128 pairs. sums: 64 × 128 per warp group, 64 registers per thread, in 4 wgmma
// compare   limit − 1 − sum is negative where a pair survives. Multiply-adds subtract, because the pipe for integer additions
//           and comparisons is the one that shifts the signs into masks, one for each of a thread's two rows. Those of a warp
//           that are not zero go to two lists, side by side, without atomics or branches
// maxima    of sum · 512 + position, by a multiply-add and half a maximum for each pair
// exact     |sums| <= 124 · 127 · 255 + 98,047 < 2²²
// bound by  instructions: 213 of a warp for 64 × 128 pairs of a warp group, beside 256 cycles of the tensor cores
// source    the design is this project's; instructions: PTX ISA 8.0

#include <cassert>
#include <climits>
#include <type_traits>

#include "data/core/round_up.h"
#include "gpu/fused/hopper.cuh"
#include "gpu/fused/sketches.h"
#include "gpu/fused/tensor_map.h"

namespace knn::gpu {

namespace {

[[maybe_unused]] constexpr int group_threads = 128, consumer_groups = sketch_queries / 64,
                               threads = (consumer_groups + 1) * group_threads;
[[maybe_unused]] constexpr int stage_rows = sketch_stage, stage_bytes = stage_rows * sketch_columns,
                               stages_per_tile = tile_train / stage_rows;
[[maybe_unused]] constexpr int ring = 8, shared_bytes = ring * stage_bytes +
                                                        2 * ring * static_cast<int>(sizeof(std::uint64_t));
[[maybe_unused]] constexpr int steps = sketch_columns / 32;

/// factor: −1 (search) or 512 (sample), see multiply_add.
struct SketchArguments {
    SketchPass pass;
    std::int32_t factor;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDA_ARCH__)

using namespace hopper;

/// With a constant factor the compiler would subtract or shift, in the pipe that is busy.
__device__ inline int multiply_add(int sum, int factor, int more) {
    int result;
    asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(sum), "r"(factor), "r"(more));
    return result;
}

/// An operand so many 16 bytes further; only its lower half changes.
__device__ inline std::uint64_t operand_at(std::uint64_t b, int further) {
    const std::uint32_t low = static_cast<std::uint32_t>(b) + static_cast<std::uint32_t>(further);
    return b >> 32 << 32 | low;
}

/// By a predicate, without a branch.
__device__ inline void store_if(bool is, Survivors* d_to, const Survivors& survivors) {
    asm volatile(
        "{\n"
        ".reg .pred is;\n"
        "setp.ne.b32 is, %0, 0;\n"
        "@is st.global.v2.b32 [%1], {%2, %3};\n"
        "}\n" ::"r"(static_cast<int>(is)),
        "l"(d_to), "r"(survivors.first), "r"(survivors.mask)
        : "memory");
}

/// The two lists of a warp's 16 queries for one piece.
class WarpLists {
  public:
    __device__ WarpLists(const SketchLists& lists, std::int64_t first_query, int slot)
        : first_list_(first_query / queries_per_list * lists.slots + slot), capacity_(lists.capacity) {
#pragma unroll
        for (int row = 0; row < 2; ++row)
            d_survivors_[row] = lists.d_survivors + (first_list_ + row * lists.slots) * lists.capacity;
    }

    /// Adds what the masks of all lanes have, of each lane's two queries.
    __device__ void add(const unsigned (&masks)[2], std::uint32_t first, int lane) {
        const unsigned before = (1u << lane) - 1;
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            const unsigned lanes = __ballot_sync(all_lanes, masks[row] != 0);
            const int at = counts_[row] + __popc(lanes & before);
            store_if(masks[row] != 0 && at < capacity_, d_survivors_[row] + at, {first, masks[row]});
            counts_[row] += __popc(lanes);
        }
    }
    __device__ void close(const SketchLists& lists, int lane) const {
        if (lane < 2) lists.d_counts[first_list_ + lane * lists.slots] = lane == 0 ? counts_[0] : counts_[1];
    }

  private:
    std::int64_t first_list_;
    int counts_[2] = {}, capacity_;
    Survivors* d_survivors_[2];
};

/// The masks (Survivors) of a thread's sums: of its upper and of its lower row. The limits are one less.
__device__ inline void survivors_in(const int (&sums)[64], int upper, int lower, int minus_one,
                                    unsigned (&masks)[2]) {
    masks[0] = masks[1] = 0;
#pragma unroll
    for (int i = 0; i < 64; ++i) {
        unsigned& mask = masks[i / 2 % 2];
        mask = __funnelshift_l(
            static_cast<unsigned>(multiply_add(sums[i], minus_one, i / 2 % 2 != 0 ? lower : upper)), mask, 1);
    }
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

/// What a warp does with its products in a search: lists survivors.
class Survey {
  public:
    __device__ Survey(const SketchArguments& arguments, std::int64_t first_query, const Piece& piece,
                      int lane)
        : arguments_(arguments),
          lane_(lane),
          upper_(limit_before(arguments.pass, first_query + lane / quad)),
          lower_(limit_before(arguments.pass, first_query + lane / quad + 8)),
          lists_(arguments.pass.lists, first_query, piece.slot),
          first_((static_cast<std::uint32_t>(lane / quad) << position_bits) +
                 static_cast<std::uint32_t>(piece.first_tile * tile_train + 2 * (lane % quad))) {
        first_ -= stage_rows;
    }
    __device__ void take(const int (&sums)[64]) {
        // Those of the stage before, whose latencies the others hide.
        lists_.add(masks_, first_, lane_);
        survivors_in(sums, upper_, lower_, arguments_.factor, masks_);
        first_ += stage_rows;
    }
    __device__ void close() {
        lists_.add(masks_, first_, lane_);
        lists_.close(arguments_.pass.lists, lane_);
    }

  private:
    const SketchArguments& arguments_;
    int lane_, upper_, lower_;
    WarpLists lists_;
    std::uint32_t first_;  // of masks_
    unsigned masks_[2] = {};
};

/// In a sample: keeps maxima.
class Maxima {
  public:
    __device__ Maxima(const SketchArguments& arguments, std::int64_t first_query, const Piece& piece,
                      int lane)
        : factor_(arguments.factor), position_(4 * stages_per_tile * piece.tiles_before) {
        const std::int64_t list = (first_query + lane / quad) * arguments.pass.lists.slots + piece.slot;
        d_upper_ = arguments.pass.d_maxima + list * sketch_maxima + lane % quad * kept;
        d_lower_ = d_upper_ + std::int64_t{8} * arguments.pass.lists.slots * sketch_maxima;
#pragma unroll
        for (int i = 0; i < 2 * kept; ++i)
            best_[i / kept][i % kept] = INT_MIN;
    }
    __device__ void take(const int (&sums)[64]) {
        const int positions[4] = {position_, position_ + 1, position_ + 2, position_ + 3};
#pragma unroll
        for (int i = 0; i < 64; i += 2) {
            int& best = best_[i / 2 % 2][i / 8];
            const int column = i / 4 % 2 * 2;
            best = __vimax3_s32(best, multiply_add(sums[i], factor_, positions[column]),
                                multiply_add(sums[i + 1], factor_, positions[column + 1]));
        }
        position_ += 4;
    }
    __device__ void close() {
#pragma unroll
        for (int i = 0; i < kept; i += 4) {
            const auto four = [&](const int* best) {
                return make_int4(best[i], best[i + 1], best[i + 2], best[i + 3]);
            };
            *reinterpret_cast<int4*>(d_upper_ + i) = four(best_[0]);
            *reinterpret_cast<int4*>(d_lower_ + i) = four(best_[1]);
        }
    }

  private:
    static constexpr int kept = sketch_maxima / quad;  // by a lane for a query
    int factor_, position_;
    std::int32_t *d_upper_, *d_lower_;
    int best_[2][kept];
};

template <class Taker>
__device__ void consume_stages(const SketchArguments& arguments, const std::uint8_t* stages,
                               std::uint64_t* full, std::uint64_t* empty, int group) {
    const SketchPass& pass = arguments.pass;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const int first_row = 64 * group + 16 * warp;
    const std::uint64_t b = operand(shared_address(stages));
    int slot = 0;
    std::uint32_t parity = 0;
    bool is_full = false;
    int sums[64];
#pragma unroll
    for (int& sum : sums)
        sum = 0;
    Pieces pieces(pass.schedule, static_cast<int>(blockIdx.x));
    for (Piece piece; pieces.next(piece);) {
        const std::int64_t first_query = std::int64_t{piece.query_tile} * sketch_queries + first_row;
        std::uint32_t a[steps][4];
        const auto* words = reinterpret_cast<const std::uint32_t*>(
                                pass.d_query + (first_query + lane / quad) * sketch_columns) +
                            lane % quad;
#pragma unroll
        for (int k = 0; k < steps; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                a[k][i] = words[i % 2 * 8 * sketch_columns / 4 + 8 * k + i / 2 * 4];
        Taker taker(arguments, first_query, piece, lane);
        for (int left = stages_per_tile * piece.n_tiles; left > 0; --left) {
            if (!is_full) wait(&full[slot], parity);
            begin_products();
#pragma unroll
            for (int k = 0; k < steps; ++k)
                multiply_128(sums, a[k], operand_at(b, slot * (stage_bytes >> 4) + 2 * k), k > 0);
            commit_products();
            wait_products<0>();
            products_are_done(sums);
            if (lane == 0) arrive(&empty[slot]);
            if (++slot == ring) {
                slot = 0;
                parity ^= 1;
            }
            is_full = is_over(&full[slot], parity);
            taker.take(sums);
        }
        taker.close();
    }
}

#endif

template <PassKind kind>
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
        using Taker = std::conditional_t<kind == PassKind::sample, Maxima, Survey>;
        consume_stages<Taker>(arguments, stages, full, empty, group - 1);
    }
#endif
}

template <PassKind kind>
void launch(const SketchPass& pass, const ByteRows& rows, cudaStream_t stream) {
    allow_shared(sketch_sm90_kernel<kind>, shared_bytes);
    sketch_sm90_kernel<kind><<<static_cast<unsigned>(pass.schedule.blocks), threads, shared_bytes, stream>>>(
        tensor_map(rows, stage_rows), {pass, kind == PassKind::sample ? 512 : -1});
    check_launch("launching sketch_sm90");
}

}  // namespace

void enqueue_sketch_search(const SketchPass& pass, std::int64_t train_rows, PassKind kind,
                           cudaStream_t stream) {
    require(train_rows % tile_train == 0 && train_rows <= most_sketched &&
                std::int64_t{pass.schedule.first_tile + pass.schedule.train_tiles} * tile_train <= train_rows,
            "whole tiles of at most 536,870,912 training images");
    require(pass.schedule.slots() <= pass.lists.slots, "a list for each piece");
    const ByteRows rows{const_cast<std::uint8_t*>(pass.d_train), train_rows, sketch_columns, sketch_columns};
    if (kind == PassKind::sample) {
        require(divide_up(pass.schedule.train_tiles, pass.schedule.windows) <= most_sample_window,
                "windows of at most 64 tiles");
        return launch<PassKind::sample>(pass, rows, stream);
    }
    require(pass.lists.capacity >= 1, "lists of at least one mask");
    check(cudaMemsetAsync(pass.lists.d_counts, 0,
                          static_cast<std::size_t>(std::int64_t{pass.schedule.query_tiles} * sketch_queries /
                                                   queries_per_list * pass.lists.slots) *
                              sizeof(std::int32_t),
                          stream),
          "emptying lists");
    launch<PassKind::search>(pass, rows, stream);
}

void load_sketch_search() {
    load_kernels(sketch_sm90_kernel<PassKind::search>, sketch_sm90_kernel<PassKind::sample>);
}

}  // namespace knn::gpu
