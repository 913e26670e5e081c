// Exact 8-bit products on the tensor cores of compute capability 9.0, with the selection's first step in the
// same kernel: the matrix of distances never exists.
//
// queries   n_query × dim bytes, pitched rows (multiples of 32 bytes), by a tensor map; dim: pixels in use
// training  the same in the order of the tiles (schedule.h)
// bias      −⌊‖r‖² / 2⌋ for each row of each tile
// out       each query's candidates that reach its threshold (survivors.cuh); in the sampling pass the maxima
//           of 64 buckets of the sample instead
//
// launch    a block a multiprocessor: a warp group of which one thread drives the copy engine, and two that
//           multiply and compare, 64 queries each
// shared    the 128 queries of a piece (128 · dim, rounded up to stages), and a ring of training stages: 256
//           rows × 128 bytes each, zero beyond dim and n_train
// tile      128 × 256 pairs. sums: 64 × 256 a warp group, 128 registers a thread. The products of a tile
//           begin and end in halves of 128 columns: while one half is compared, the tensor cores work on the
//           other.
// limits    dim <= 1024 (the queries stay in shared memory); fewer than 2³¹ training images
// exact     u8 × u8 → s32; 1024 · 255² < 2³¹
// work      2 · n_query · n_train · dim operations; each training byte is read from L2 once for 128 queries
// source    the shape is this project's; the instructions are those of PTX ISA 8.0

#include <cudaTypedefs.h>

#include <string>

#include "gpu/fused/comparer.cuh"
#include "gpu/fused/fused.h"
#include "gpu/fused/hopper.cuh"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

constexpr int group_threads = 128, threads = 3 * group_threads;
[[maybe_unused]] constexpr int consumer_warps = 8;
constexpr int stage_dim = 128, step_dim = 32;
[[maybe_unused]] constexpr int steps = stage_dim / step_dim;
constexpr int query_stage_bytes = tile_queries * stage_dim, train_stage_bytes = tile_train * stage_dim;
constexpr int bias_bytes = tile_train * 4;
constexpr int most_ring = 6, most_stages = 8;
constexpr int least_for_two = 5;  // stages of a tile whose first two and last two are multiplied in halves
constexpr int shared_limit = 227 * 1024;

/// How shared memory is used for images of one size.
struct Shape {
    int stages = 1;      // of 128 bytes that a row has
    int tail_steps = 4;  // of 32 bytes in the last stage
    int ring = 3;        // training stages in flight
    int bias_slots =
        2;  // tiles; the ring holds at most bias_slots − 1 tiles, so no bias is overwritten in use

    int bytes() const {
        return stages * query_stage_bytes + ring * train_stage_bytes + bias_slots * bias_bytes + 256;
    }
};

Shape shape_for(std::int64_t dim) {
    Shape shape;
    shape.stages = static_cast<int>((dim + stage_dim - 1) / stage_dim);
    const int tail = static_cast<int>(dim) - (shape.stages - 1) * stage_dim;
    shape.tail_steps = (tail + step_dim - 1) / step_dim;
    for (shape.ring = most_ring; shape.ring >= 3; --shape.ring) {
        shape.bias_slots = (shape.ring + shape.stages - 1) / shape.stages + 1;
        if (shape.bytes() <= shared_limit) break;
    }
    return shape;
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDA_ARCH__)

using namespace hopper;

/// The layout of the block's shared memory, which begins at a multiple of 1024 bytes.
struct Shared {
    std::uint8_t *queries, *ring;
    std::int32_t* bias;
    std::uint64_t *full, *empty, *queries_full, *queries_empty;

    __device__ Shared(std::uint8_t* base, const Shape& shape)
        : queries(base),
          ring(queries + shape.stages * query_stage_bytes),
          bias(reinterpret_cast<std::int32_t*>(ring + shape.ring * train_stage_bytes)),
          full(reinterpret_cast<std::uint64_t*>(bias + shape.bias_slots * tile_train)),
          empty(full + most_ring),
          queries_full(empty + most_ring),
          queries_empty(queries_full + 1) {}
};

/// The position in the ring, and the parity of its barriers there.
struct RingPosition {
    int slot = 0;
    std::uint32_t parity = 0;
    __device__ void advance(int ring) {
        if (++slot == ring) {
            slot = 0;
            parity ^= 1;
        }
    }
};

/// The stages of a tile in the order of work. The short last one comes behind the `edge` first ones, because
/// those, and the last ones, cover the comparing of the halves.
template <int edge>
__device__ int stage_at(int i, int stages) {
    if (stages <= 2 * edge || i < edge) return i;
    return i == edge ? stages - 1 : i - 1;
}

/// One thread fills shared memory.
template <int edge>
__device__ void produce(const CUtensorMap& query_map, const CUtensorMap& train_map, const TensorPass& pass,
                        const Shape& shape, const Shared& shared) {
    Pieces pieces(pass.schedule, static_cast<int>(blockIdx.x));
    RingPosition at;
    std::uint32_t query_parity = 1;
    int bias_slot = 0;
    for (Piece piece; pieces.next(piece); query_parity ^= 1) {
        wait(shared.queries_empty, query_parity);
        arrive_expecting(shared.queries_full, shape.stages * query_stage_bytes);
        for (int s = 0; s < shape.stages; ++s)
            copy_box(shared.queries + s * query_stage_bytes, &query_map, s * stage_dim,
                     piece.query_tile * tile_queries, shared.queries_full);
        for (int t = piece.first_tile; t < piece.first_tile + piece.n_tiles; ++t) {
            for (int i = 0; i < shape.stages; ++i) {
                wait(&shared.empty[at.slot], at.parity ^ 1);
                std::uint64_t* full = &shared.full[at.slot];
                arrive_expecting(full, train_stage_bytes + (i == 0 ? bias_bytes : 0));
                copy_box(shared.ring + at.slot * train_stage_bytes, &train_map,
                         stage_at<edge>(i, shape.stages) * stage_dim, t * tile_train, full);
                if (i == 0)
                    copy_bytes(shared.bias + bias_slot * tile_train, pass.d_score_bias + t * tile_train,
                               bias_bytes, full);
                at.advance(shape.ring);
            }
            bias_slot = bias_slot + 1 == shape.bias_slots ? 0 : bias_slot + 1;
        }
    }
}

/// What a warp group multiplies: the operands of its 64 queries and of the ring's stages.
class Multiplier {
  public:
    __device__ Multiplier(const Shape& shape, const Shared& shared, int group)
        : shape_(shape),
          shared_(shared),
          a_(operand(shared_address(shared.queries) + group * 64 * stage_dim)),
          b_(operand(shared_address(shared.ring))) {}

    /// Waits for the stage that the ring holds at `at`.
    __device__ void wait_for(const RingPosition& at) const { wait(&shared_.full[at.slot], at.parity); }
    __device__ void release(int slot) const {
        if (threadIdx.x % 32 == 0) arrive(&shared_.empty[slot]);
    }
    /// Stage `stage` of the rows for half the columns; add: 0 if it is the tile's first.
    template <int half>
    __device__ void half_stage(int (&sums)[128], int stage, int slot, int add) const {
        const std::uint64_t a = a_ + stage * (query_stage_bytes >> 4);
        const std::uint64_t b = b_ + slot * (train_stage_bytes >> 4) + half * half_b;
#pragma unroll
        for (int k = 0; k < steps; ++k)
            multiply_128<half>(sums, a + k * step, b + k * step, k > 0 ? 1 : add);
    }
    /// Both halves, not first.
    __device__ void whole_stage(int (&sums)[128], int stage, int slot) const {
        if (stage < shape_.stages - 1 || shape_.tail_steps == steps) {
            half_stage<0>(sums, stage, slot, 1);
            half_stage<1>(sums, stage, slot, 1);
            return;
        }
        const std::uint64_t a = a_ + stage * (query_stage_bytes >> 4);
        const std::uint64_t b = b_ + slot * (train_stage_bytes >> 4);
        for (int k = 0; k < shape_.tail_steps; ++k) {
            multiply_128<0>(sums, a + k * step, b + k * step, 1);
            multiply_128<1>(sums, a + k * step, b + half_b + k * step, 1);
        }
    }

  private:
    // In units of 16 bytes, as operands are.
    static constexpr std::uint64_t step = step_dim >> 4, half_b = (tile_train / 2 * stage_dim) >> 4;
    const Shape& shape_;
    const Shared& shared_;
    std::uint64_t a_, b_;
};

/// Two warp groups multiply and compare; `group` is 0 or 1.
///
/// The first and the last `edge` stages of a tile are multiplied half by half: the first half of this tile
/// while the second half of the tile before is compared, and the second half while the first is.
template <bool sampling, int edge>
__device__ void consume(const TensorPass& pass, const Shape& shape, const Shared& shared, int group) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const int row = 64 * group + 16 * warp + lane / quad;
    const Multiplier multiplier(shape, shared, group);
    const int stages = shape.stages;

    int sums[128];
#pragma unroll
    for (int& sum : sums)
        sum = 0;
    Pieces pieces(pass.schedule, static_cast<int>(blockIdx.x));
    RingPosition at;
    std::uint32_t query_parity = 0;
    int bias_slot = 0;
    for (Piece piece; pieces.next(piece); query_parity ^= 1) {
        Comparer<sampling> comparer(pass, piece, row);
        wait(shared.queries_full, query_parity);
        const std::int32_t* before = nullptr;  // of the tile whose second half is still to be compared
        for (int t = piece.first_tile; t < piece.first_tile + piece.n_tiles; ++t) {
            const std::int32_t* bias = shared.bias + bias_slot * tile_train;
            bias_slot = bias_slot + 1 == shape.bias_slots ? 0 : bias_slot + 1;
            int slots[edge];

            RingPosition first = at;
            begin_products();
#pragma unroll
            for (int i = 0; i < edge; ++i, at.advance(shape.ring)) {
                multiplier.wait_for(at);
                multiplier.half_stage<0>(sums, stage_at<edge>(i, stages), at.slot, i);
            }
            commit_products();
            wait_products<1>();  // waits for nothing; the compiler wants to see that the second half is done
            if (before != nullptr) comparer.template compare<1>(sums, t - 1, before);
            begin_products();
#pragma unroll
            for (int i = 0; i < edge; ++i, first.advance(shape.ring)) {
                multiplier.half_stage<1>(sums, stage_at<edge>(i, stages), first.slot, i);
                slots[i] = first.slot;
            }
            commit_products();

            int used = -1;
            for (int i = edge; i < stages - edge; ++i, at.advance(shape.ring)) {
                multiplier.wait_for(at);
                begin_products();
                multiplier.whole_stage(sums, stage_at<edge>(i, stages), at.slot);
                commit_products();
                wait_products<1>();
                if (used < 0)
                    for (int slot : slots)
                        multiplier.release(slot);
                else
                    multiplier.release(used);
                used = at.slot;
            }

            if (stages >= 2 * edge) {
                RingPosition last = at;
                begin_products();
#pragma unroll
                for (int i = 0; i < edge; ++i, at.advance(shape.ring)) {
                    multiplier.wait_for(at);
                    multiplier.half_stage<0>(sums, stage_at<edge>(stages - edge + i, stages), at.slot, 1);
                }
                commit_products();
#pragma unroll
                for (int i = 0; i < edge; ++i, last.advance(shape.ring))
                    multiplier.half_stage<1>(sums, stage_at<edge>(stages - edge + i, stages), last.slot, 1);
                commit_products();
                wait_products<1>();
                if (used < 0)
                    for (int slot : slots)
                        multiplier.release(slot);
                else
                    multiplier.release(used);
                last = at;
#pragma unroll
                for (int i = edge - 1; i >= 0; --i) {
                    last.slot = last.slot == 0 ? shape.ring - 1 : last.slot - 1;
                    slots[i] = last.slot;
                }
            } else {
                wait_products<1>();
            }
            products_are_done<0>(sums);
            comparer.template compare<0>(sums, t, bias);
            wait_products<0>();
            products_are_done<1>(sums);
            for (int slot : slots)
                multiplier.release(slot);
            before = bias;
        }
        if (lane == 0) arrive(shared.queries_empty);
        comparer.template compare<1>(sums, piece.first_tile + piece.n_tiles - 1, before);
        comparer.close();
    }
}

#endif

template <bool sampling, int edge>
__global__ void __launch_bounds__(threads, 1)
    tensor_sm90_kernel(const __grid_constant__ CUtensorMap query_map,
                       const __grid_constant__ CUtensorMap train_map, const __grid_constant__ TensorPass pass,
                       const Shape shape) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) std::uint8_t shared_bytes[];
    const Shared shared(shared_bytes, shape);
    if (threadIdx.x == 0) {
        for (int slot = 0; slot < shape.ring; ++slot) {
            init_barrier(&shared.full[slot], 1);
            init_barrier(&shared.empty[slot], consumer_warps);
        }
        init_barrier(shared.queries_full, 1);
        init_barrier(shared.queries_empty, consumer_warps);
        publish_barriers();
    }
    __syncthreads();
    const int group = static_cast<int>(threadIdx.x) / group_threads;
    if (group == 0) {
        give_registers_away<40>();
        if (threadIdx.x == 0) produce<edge>(query_map, train_map, pass, shape, shared);
    } else {
        take_registers<232>();
        consume<sampling, edge>(pass, shape, shared, group - 1);
    }
#endif
}

/// cuTensorMapEncodeTiled, asked from the driver, so that the program starts where there is none.
PFN_cuTensorMapEncodeTiled_v12000 map_encoder() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                           &found),
          "asking the driver for tensor maps");
    if (found != cudaDriverEntryPointSuccess)
        throw DeviceError("GPU: the driver has no tensor maps; expected one for CUDA 12 or later");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

/// 8-bit rows as boxes of 128 bytes × `box_rows` consecutive rows, zero beyond `cols` and the last row.
CUtensorMap map_of(const ByteRows& rows, int box_rows) {
    CUtensorMap map{};
    const cuuint64_t size[] = {static_cast<cuuint64_t>(rows.cols), static_cast<cuuint64_t>(rows.n)};
    const cuuint64_t pitch[] = {static_cast<cuuint64_t>(rows.pitch_bytes)};
    const cuuint32_t box[] = {stage_dim, static_cast<cuuint32_t>(box_rows)}, step[] = {1, 1};
    const CUresult status =
        map_encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, rows.d_data, size, pitch, box, step,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS)
        throw DeviceError("GPU: making a tensor map failed with code " + std::to_string(status));
    return map;
}

template <bool sampling>
void launch(const ByteRows& train, const ByteRows& query, const TensorPass& pass, cudaStream_t stream) {
    const Shape shape = shape_for(pass.dim);
    const auto kernel =
        shape.stages >= least_for_two ? tensor_sm90_kernel<sampling, 2> : tensor_sm90_kernel<sampling, 1>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shape.bytes()),
          "asking for shared memory");
    kernel<<<static_cast<unsigned>(pass.schedule.blocks), threads, static_cast<std::size_t>(shape.bytes()),
             stream>>>(map_of(query, tile_queries), map_of(train, tile_train), pass, shape);
    check_launch("launching tensor_sm90");
}

Refusal supports(const Problem& problem, int compute_capability) {
    if (compute_capability / 10 != 9) return "tensor_sm90 needs compute capability 9.0";
    if (problem.dim > most_stages * stage_dim)
        return "tensor_sm90 takes images of at most 1,024 pixels, which stay in shared memory";
    return std::nullopt;
}

}  // namespace

extern const TensorKernel tensor_sm90{
    "tensor_sm90", "wgmma on tiles of 128 x 256 by the bulk tensor copy engine; compute capability 9.0",
    supports, launch<true>, launch<false>};

}  // namespace knn::gpu
