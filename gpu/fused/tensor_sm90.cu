// Exact 8-bit products on the tensor cores of compute capability 9.0, fused with the first step of the
// selection: no distance matrix in memory.
//
// queries   n_query × dim bytes, pitched rows (multiples of 32 bytes), by a tensor map; dim: used pixels
// training  the same in tile order (schedule.h)
// bias      int32, −⌊‖r‖² / 2⌋ for each row of each tile
// out       each query's candidates that reach its threshold (TensorPass, survivors.cuh); in the sampling pass the
//           maxima of 64 buckets of the sample instead
//
// launch    one block of 384 threads per multiprocessor: a producer warp group, two threads of which issue the
//           bulk copies, and two consumer warp groups, which multiply and compare 64 queries each
// shared    the 128 queries of a piece (128 · dim, rounded up to stages), and a ring of training stages: 256
//           rows × 128 bytes each, zero beyond dim and n_train
// tile      128 × 256 pairs. sums: 64 × 256 per warp group, 128 registers per thread. The first and the last
//           stage of a tile are multiplied as two halves of 128 columns: while one half is compared, the
//           tensor cores work on the other.
// limits    dim <= 1024 (the queries stay in shared memory); fewer than 2³¹ training images
// exact     u8 × u8 → s32; 1024 · 255² < 2³¹
// work      2 · n_query · n_train · dim operations; each training byte is read from L2 once per 128 queries
// source    the design is this project's; instructions: PTX ISA 8.0

#include <cassert>

#include "gpu/fused/comparer.cuh"
#include "gpu/fused/fused.h"
#include "gpu/fused/hopper.cuh"
#include "gpu/fused/sketches.h"
#include "gpu/fused/tensor_map.h"

namespace knn::gpu {

namespace {

constexpr int group_threads = 128, threads = 3 * group_threads;
[[maybe_unused]] constexpr int consumer_warps = 8;
constexpr int stage_dim = map_cols, step_dim = 32;
constexpr int steps = stage_dim / step_dim;
constexpr int query_stage_bytes = tile_queries * stage_dim, train_stage_bytes = tile_train * stage_dim;
constexpr int bias_bytes = tile_train * 4;
constexpr int max_ring = 6, max_stages = 8;
constexpr int barriers_bytes = 8 * 2 * (max_ring + max_stages);
constexpr int shared_limit = 227 * 1024;

/// How shared memory is divided for one image size.
struct Shape {
    int stages = 1;      // of 128 bytes per row
    int tail_steps = 4;  // of 32 bytes in the last stage
    int ring = 3;        // training stages in flight
    int bias_slots = 2;  // tiles; the ring holds at most bias_slots − 1, so no bias in use is overwritten

    int bytes() const {
        return stages * query_stage_bytes + ring * train_stage_bytes + bias_slots * bias_bytes +
               barriers_bytes;
    }
};

Shape shape_for(std::int64_t dim) {
    Shape shape;
    shape.stages = static_cast<int>((dim + stage_dim - 1) / stage_dim);
    const int tail = static_cast<int>(dim) - (shape.stages - 1) * stage_dim;
    shape.tail_steps = (tail + step_dim - 1) / step_dim;
    for (shape.ring = max_ring; shape.ring >= 3; --shape.ring) {
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
          empty(full + max_ring),
          queries_full(empty + max_ring),
          queries_empty(queries_full + max_stages) {}
};

/// A slot of the ring, and the parity of its barriers.
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

/// The stages of a tile in processing order. The short last stage comes second, because the first and the
/// last in this order hide the comparisons of the halves.
__device__ int stage_at(int i, int stages) {
    if (stages <= 2 || i == 0) return i;
    return i == 1 ? stages - 1 : i - 1;
}

/// Producer thread of the ring.
__device__ void produce(const CUtensorMap& train_map, const TensorPass& pass, const Shape& shape,
                        const Shared& shared) {
    Pieces pieces(pass.schedule, static_cast<int>(blockIdx.x));
    RingPosition at;
    int bias_slot = 0;
    for (Piece piece; pieces.next(piece);)
        for (int t = piece.first_tile; t < piece.first_tile + piece.n_tiles; ++t) {
            for (int i = 0; i < shape.stages; ++i, at.advance(shape.ring)) {
                wait(&shared.empty[at.slot], at.parity ^ 1);
                std::uint64_t* full = &shared.full[at.slot];
                arrive_expecting(full, train_stage_bytes + (i == 0 ? bias_bytes : 0));
                copy_box(shared.ring + at.slot * train_stage_bytes, &train_map,
                         stage_at(i, shape.stages) * stage_dim, t * tile_train, full);
                if (i == 0)
                    copy_bytes(shared.bias + bias_slot * tile_train, pass.d_score_bias + t * tile_train,
                               bias_bytes, full);
            }
            bias_slot = bias_slot + 1 == shape.bias_slots ? 0 : bias_slot + 1;
        }
}

/// Producer thread of the queries: loads each piece stage by stage, as the consumers release the previous
/// one.
__device__ void produce_queries(const CUtensorMap& query_map, const TensorPass& pass, const Shape& shape,
                                const Shared& shared) {
    Pieces pieces(pass.schedule, static_cast<int>(blockIdx.x));
    std::uint32_t parity = 1;
    for (Piece piece; pieces.next(piece); parity ^= 1)
        for (int i = 0; i < shape.stages; ++i) {
            const int stage = stage_at(i, shape.stages);
            wait(&shared.queries_empty[stage], parity);
            arrive_expecting(&shared.queries_full[stage], query_stage_bytes);
            copy_box(shared.queries + stage * query_stage_bytes, &query_map, stage * stage_dim,
                     piece.query_tile * tile_queries, &shared.queries_full[stage]);
        }
}

/// A stage in use: its index in the rows, and its slot in the ring.
struct Stage {
    int index, slot;
};

/// Multiplies a warp group's 64 queries with the ring's stages. tail: steps in the last stage, known at
/// compile time, so that the commit is part of a group's last wgmma; otherwise the compiler adds an empty
/// wgmma.
template <int tail>
class Multiplier {
  public:
    __device__ Multiplier(const Shape& shape, const Shared& shared, int group)
        : shape_(shape),
          shared_(shared),
          a_(operand(shared_address(shared.queries) + group * 64 * stage_dim)),
          b_(operand(shared_address(shared.ring))) {}

    /// Announce the next piece, and each of its tiles.
    __device__ void begin_piece() { query_parity_ ^= 1; }
    __device__ void begin_tile(bool is_first, bool is_last) {
        is_first_ = is_first;
        is_last_ = is_last;
    }
    /// Waits for the next stage of the ring, which is stage `index` of the rows.
    __device__ Stage next(int index) {
        assert(index >= 0 && index < shape_.stages);
        if (is_first_) wait(&shared_.queries_full[index], query_parity_);
        wait(&shared_.full[at_.slot], at_.parity);
        const Stage stage{index, at_.slot};
        at_.advance(shape_.ring);
        return stage;
    }
    __device__ void release(const Stage& stage) const {
        if (threadIdx.x % 32 != 0) return;
        arrive(&shared_.empty[stage.slot]);
        if (is_last_) arrive(&shared_.queries_empty[stage.index]);
    }
    /// One half of the columns; add: 0 for the first stage of a tile.
    template <int half, int n_steps = steps>
    __device__ void multiply(int (&sums)[128], const Stage& stage, int add) const {
        const std::uint64_t a = a_ + stage.index * (query_stage_bytes >> 4);
        const std::uint64_t b = b_ + stage.slot * (train_stage_bytes >> 4) + half * half_b;
#pragma unroll
        for (int k = 0; k < n_steps; ++k)
            multiply_128<half>(sums, a + k * step, b + k * step, k > 0 ? 1 : add);
    }
    /// Both halves of a later stage, in two wgmma groups.
    __device__ void multiply_whole(int (&sums)[128], const Stage& stage) const {
        if (stage.index < shape_.stages - 1)
            multiply_halves<steps>(sums, stage);
        else
            multiply_halves<tail>(sums, stage);
    }

  private:
    template <int n_steps>
    __device__ void multiply_halves(int (&sums)[128], const Stage& stage) const {
        multiply<0, n_steps>(sums, stage, 1);
        commit_products();
        multiply<1, n_steps>(sums, stage, 1);
        commit_products();
    }
    // In units of 16 bytes, as in matrix descriptors.
    static constexpr std::uint64_t step = step_dim >> 4, half_b = (tile_train / 2 * stage_dim) >> 4;
    const Shape& shape_;
    const Shared& shared_;
    std::uint64_t a_, b_;
    RingPosition at_;
    std::uint32_t query_parity_ = 1;
    bool is_first_ = false, is_last_ = false;
};

/// Consumer warp group 0 or 1: multiplies and compares.
///
/// The first and the last stage of a tile are multiplied as two halves: the first half of this tile while the
/// second half of the previous tile is compared, and the second half while the first is.
template <PassKind kind, int tail>
__device__ void consume(const TensorPass& pass, const Shape& shape, const Shared& shared, int group) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const int row = 64 * group + 16 * warp + lane / quad, stages = shape.stages;
    Multiplier<tail> multiplier(shape, shared, group);

    int sums[128];
#pragma unroll
    for (int& sum : sums)
        sum = 0;
    Pieces pieces(pass.schedule, static_cast<int>(blockIdx.x));
    int bias_slot = 0;
    for (Piece piece; pieces.next(piece);) {
        Comparer<kind> comparer(pass, piece, row);
        multiplier.begin_piece();
        const int end = piece.first_tile + piece.n_tiles;
        const std::int32_t* before = nullptr;  // bias of the tile whose second half is still to be compared
        for (int t = piece.first_tile; t < end; ++t) {
            multiplier.begin_tile(t == piece.first_tile, t == end - 1);
            const std::int32_t* bias = shared.bias + bias_slot * tile_train;
            bias_slot = bias_slot + 1 == shape.bias_slots ? 0 : bias_slot + 1;

            Stage held = multiplier.next(0);  // its products may be unfinished
            begin_products();
            multiplier.template multiply<0>(sums, held, 0);
            commit_products();
            wait_products<1>();  // never waits, but ptxas needs it to know that the second half is done
            if (before != nullptr) comparer.template compare<1>(sums, t - 1, before);
            begin_products();
            multiplier.template multiply<1>(sums, held, 0);
            commit_products();

            for (int i = 1; i < stages - 1; ++i) {
                const Stage stage = multiplier.next(stage_at(i, stages));
                begin_products();
                multiplier.multiply_whole(sums, stage);
                wait_products<2>();
                multiplier.release(held);
                held = stage;
            }

            if (stages > 1) {
                const Stage last = multiplier.next(stage_at(stages - 1, stages));
                begin_products();
                multiplier.template multiply<0>(sums, last, 1);
                commit_products();
                multiplier.template multiply<1>(sums, last, 1);
                commit_products();
                wait_products<1>();
                multiplier.release(held);
                held = last;
            } else {
                wait_products<1>();
            }
            products_are_done<0>(sums);
            comparer.template compare<0>(sums, t, bias);
            wait_products<0>();
            products_are_done<1>(sums);
            multiplier.release(held);
            before = bias;
        }
        comparer.template compare<1>(sums, end - 1, before);
        comparer.close();
    }
}

#endif

template <PassKind kind, int tail>
__global__ void __launch_bounds__(threads, 1)
    tensor_sm90_kernel(const __grid_constant__ CUtensorMap query_map,
                       const __grid_constant__ CUtensorMap train_map, const __grid_constant__ TensorPass pass,
                       const Shape shape) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) std::uint8_t shared_bytes[];
    assert(shared_address(shared_bytes) % 1024 == 0 && blockDim.x == threads);
    assert(shape.stages <= max_stages && shape.ring <= max_ring && pass.dim <= shape.stages * stage_dim);
    const Shared shared(shared_bytes, shape);
    if (threadIdx.x == 0) {
        for (int slot = 0; slot < shape.ring; ++slot) {
            init_barrier(&shared.full[slot], 1);
            init_barrier(&shared.empty[slot], consumer_warps);
        }
        for (int stage = 0; stage < shape.stages; ++stage) {
            init_barrier(&shared.queries_full[stage], 1);
            init_barrier(&shared.queries_empty[stage], consumer_warps);
        }
        publish_barriers();
    }
    __syncthreads();
    const int group = static_cast<int>(threadIdx.x) / group_threads;
    if (group == 0) {
        give_registers_away<40>();
        if (threadIdx.x == 0) produce(train_map, pass, shape, shared);
        if (threadIdx.x == 32) produce_queries(query_map, pass, shape, shared);
    } else {
        take_registers<232>();
        consume<kind, tail>(pass, shape, shared, group - 1);
    }
#endif
}

/// By the number of steps in the last stage.
template <PassKind kind>
constexpr decltype(&tensor_sm90_kernel<kind, 1>) kernels[] = {
    tensor_sm90_kernel<kind, 1>, tensor_sm90_kernel<kind, 2>, tensor_sm90_kernel<kind, 3>,
    tensor_sm90_kernel<kind, steps>};

void load(int dim) {
    const int i = shape_for(dim).tail_steps - 1;
    load_kernels(kernels<PassKind::sample>[i], kernels<PassKind::search>[i]);
}

template <PassKind kind>
void launch(const ByteRows& train, const ByteRows& query, const TensorPass& pass, cudaStream_t stream) {
    require(pass.dim >= 1 && pass.dim <= max_stages * stage_dim, "1 to 1,024 pixels");
    check_pass(train, query, pass, kind);
    const Shape shape = shape_for(pass.dim);
    require(shape.bytes() <= shared_limit, "at most 227 KiB of shared memory");
    const auto kernel = kernels<kind>[shape.tail_steps - 1];
    allow_shared(kernel, shape.bytes());
    kernel<<<static_cast<unsigned>(pass.schedule.blocks), threads, static_cast<std::size_t>(shape.bytes()),
             stream>>>(tensor_map(query, tile_queries), tensor_map(train, tile_train), pass, shape);
    check_launch("launching tensor_sm90");
}

UnsupportedReason supports(const Problem& problem, int compute_capability) {
    if (compute_capability / 10 != 9) return "tensor_sm90 needs compute capability 9.0";
    if (problem.dim > max_stages * stage_dim)
        return "tensor_sm90 takes images of at most 1,024 pixels, which stay in shared memory";
    return std::nullopt;
}

}  // namespace

extern const TensorKernel tensor_sm90{"tensor_sm90",
                                      "wgmma on tiles of 128 x 256, loaded by TMA; compute capability 9.0",
                                      supports,
                                      launch<PassKind::sample>,
                                      launch<PassKind::search>,
                                      load,
                                      enqueue_sketch_search};

}  // namespace knn::gpu
