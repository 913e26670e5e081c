// Exact 8-bit products on tensor cores by mma.sync, fused with the first step of the selection: the algorithm
// of tensor_sm90.cu for compute capability 8.0 and newer and for larger images.
//
// queries   n_query × dim bytes, pitched rows (multiples of 32 bytes), zero beyond dim; used pixels only
// training  the same in tile order (schedule.h)
// bias      −⌊‖r‖² / 2⌋ for each row of each tile
// out       each query's candidates that reach its threshold (survivors.cuh); in the sampling pass the maxima
//           of 64 buckets of the sample instead
//
// launch    one block per multiprocessor, 8 warps, each with 16 queries and all 256 training images of a
//           tile: 128 accumulators per thread, in the layout that Comparer expects
// shared    a ring of 3 stages: 64 bytes of 128 queries and of 256 training images, 24 KiB each, 16-byte
//           pieces swizzled so that ldmatrix has no bank conflicts
// limits    dim <= 4096 (sums within 32 bits, norms within 2²⁹); fewer than 2³¹ training images
// exact     u8 × u8 → s32
// work      2 · n_query · n_train · dim operations. Every warp reads all training bytes of a tile from shared
//           memory, which limits it to about half of the tensor cores' rate
// source    PTX ISA, mma.m16n8k32 and ldmatrix

#include <cassert>

#include "data/core/round_up.h"
#include "gpu/fused/comparer.cuh"
#include "gpu/fused/fused.h"
#include "gpu/fused/mma.cuh"

namespace knn::gpu {

namespace {

constexpr int threads = 256, stage_dim = 64, ring = 3;
[[maybe_unused]] constexpr int step_dim = 32, pieces_per_row = stage_dim / 16;
constexpr int stage_rows = tile_queries + tile_train;  // the queries first
constexpr int stage_bytes = stage_rows * stage_dim;
constexpr std::int64_t max_tensor_dim = 4096, max_train = std::int64_t{1} << 31;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Offset of 16 bytes of a row within a stage.
__device__ inline unsigned position(int row, int piece) {
    assert(row >= 0 && row < stage_rows && piece >= 0 && piece < pieces_per_row);
    return static_cast<unsigned>(row * stage_dim + (piece ^ (row / 2 % pieces_per_row)) * 16);
}

/// Starts an asynchronous copy of 16 bytes to shared memory, or of zeros if not `inside` the data.
__device__ inline void copy_16(unsigned to, const void* from, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
}

/// ldmatrix.x4: four matrices of 8 × 16 bytes; each lane passes the address of a row.
__device__ inline void load_matrices(unsigned (&values)[4], unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(values[0]), "=r"(values[1]), "=r"(values[2]), "=r"(values[3])
                 : "r"(from)
                 : "memory");
}

/// Fills the ring, stage after stage, across the tiles of a piece.
class Feeder {
  public:
    __device__ Feeder(const ByteRows& train, const ByteRows& query, const Piece& piece, int stages,
                      unsigned shared)
        : train_(train), query_(query), piece_(piece), stages_(stages), shared_(shared) {}

    /// Starts the next stage, if any; always commits a group, so that waits can count groups.
    __device__ void start_next() {
        if (tile_ < piece_.n_tiles) {
            const unsigned stage = shared_ + slot_ * stage_bytes;
            for (int i = static_cast<int>(threadIdx.x); i < stage_rows * pieces_per_row; i += threads) {
                const int row = i / pieces_per_row, piece = i % pieces_per_row;
                const std::int64_t column = std::int64_t{stage_} * stage_dim + piece * 16;
                const bool is_query = row < tile_queries;
                const ByteRows& rows = is_query ? query_ : train_;
                const std::int64_t row_index =
                    is_query ? std::int64_t{piece_.query_tile} * tile_queries + row
                             : std::int64_t{piece_.first_tile + tile_} * tile_train + row - tile_queries;
                const bool inside =
                    row_index < rows.n && column < static_cast<std::int64_t>(rows.pitch_bytes);
                copy_16(stage + position(row, piece), inside ? rows.row(row_index) + column : rows.d_data,
                        inside);
            }
            slot_ = slot_ + 1 == ring ? 0 : slot_ + 1;
            if (++stage_ == stages_) {
                stage_ = 0;
                ++tile_;
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    }

  private:
    const ByteRows &train_, &query_;
    const Piece& piece_;
    int stages_, tile_ = 0, stage_ = 0;
    unsigned shared_, slot_ = 0;
};

/// Multiplies one stage: this warp's 16 queries with all 256 training images.
__device__ void multiply_stage(int (&sums)[128], unsigned stage, int warp, int lane) {
#pragma unroll
    for (int k = 0; k < stage_dim / step_dim; ++k) {
        unsigned a[4];
        load_matrices(a, stage + position(16 * warp + lane % 16, 2 * k + lane / 16));
#pragma unroll
        for (int j = 0; j < tile_train / 8; j += 2) {
            unsigned b[4];
            const int row = tile_queries + 8 * j + lane / 16 * 8 + lane % 8;
            load_matrices(b, stage + position(row, 2 * k + lane / 8 % 2));
            multiply(&sums[4 * j], a, b[0], b[1]);
            multiply(&sums[4 * j + 4], a, b[2], b[3]);
        }
    }
}

#endif

template <PassKind kind>
__global__ void __launch_bounds__(threads, 1)
    tensor_mma_kernel(ByteRows train, ByteRows query, const __grid_constant__ TensorPass pass, int stages) {
#if __CUDA_ARCH__ >= 800
    extern __shared__ __align__(128) std::uint8_t shared_bytes[];
    const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(shared_bytes));
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    assert(blockDim.x == threads && shared % 128 == 0 && train.aligned(32) && query.aligned(32));
    assert(pass.dim <= stages * stage_dim && pass.dim <= max_tensor_dim);
    Pieces pieces(pass.schedule, static_cast<int>(blockIdx.x));
    for (Piece piece; pieces.next(piece);) {
        assert(std::int64_t{piece.first_tile + piece.n_tiles} * tile_train <= train.n);
        Comparer<kind> comparer(pass, piece, 16 * warp + lane / quad);
        Feeder feeder(train, query, piece, stages, shared);
        for (int i = 0; i < ring - 1; ++i)
            feeder.start_next();
        int slot = 0;
        for (int t = piece.first_tile; t < piece.first_tile + piece.n_tiles; ++t) {
            int sums[128] = {};
            for (int s = 0; s < stages; ++s) {
                asm volatile("cp.async.wait_group %0;" ::"n"(ring - 2) : "memory");
                __syncthreads();  // the stage is visible to all, and all are done with the previous one
                feeder.start_next();
                multiply_stage(sums, shared + slot * stage_bytes, warp, lane);
                slot = slot + 1 == ring ? 0 : slot + 1;
            }
            const std::int32_t* d_bias = pass.d_score_bias + std::int64_t{t} * tile_train;
            comparer.template compare<0>(sums, t, d_bias);
            comparer.template compare<1>(sums, t, d_bias);
        }
        comparer.close();
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
    }
#endif
}

void load(int) {
    load_kernels(tensor_mma_kernel<PassKind::sample>, tensor_mma_kernel<PassKind::search>);
}

template <PassKind kind>
void launch(const ByteRows& train, const ByteRows& query, const TensorPass& pass, cudaStream_t stream) {
    require(pass.dim >= 1 && pass.dim <= max_tensor_dim, "1 to 4,096 pixels");
    check_pass(train, query, pass, kind);
    const int stages = static_cast<int>(divide_up(pass.dim, stage_dim));
    const auto kernel = tensor_mma_kernel<kind>;
    allow_shared(kernel, ring * stage_bytes);
    kernel<<<static_cast<unsigned>(pass.schedule.blocks), threads, ring * stage_bytes, stream>>>(
        train, query, pass, stages);
    check_launch("launching tensor_mma");
}

UnsupportedReason supports(const Problem& problem, int compute_capability) {
    if (compute_capability < 80) return "tensor_mma needs compute capability 8.0 or newer";
    if (problem.dim > max_tensor_dim)
        return "the tensor kernels take images of at most 4,096 pixels, whose sums fit in 32 bits";
    if (problem.n_train >= max_train)
        return "tensor_mma takes fewer than 2,147,483,648 training images, whose positions fit in 31 bits";
    return std::nullopt;
}

}  // namespace

extern const TensorKernel tensor_mma{"tensor_mma",
                                     "mma.sync on tiles of 128 x 256; compute capability 8.0 and newer",
                                     supports,
                                     launch<PassKind::sample>,
                                     launch<PassKind::search>,
                                     load};

}  // namespace knn::gpu
