#pragma once
/// The kernels of the fused search, which compute distances and select in one pass: the passes over tiles on tensor cores,
/// and what is launched around them.

#include <cuda_runtime.h>

#include <span>
#include <vector>

#include "data/core/problem.h"
#include "gpu/fused/survivors.cuh"
#include "gpu/runtime/buffers.h"
#include "gpu/select/topk.cuh"

namespace knn::gpu {

struct SketchPass;  // sketches.h

/// One way to compute tiles of scores on tensor cores. Each pass queues one launch on `stream`,
/// allocates nothing and waits for nothing. train: rows in tile order, train_tiles · tile_train of them.
/// Pitches are multiples of 32 bytes; bytes beyond `cols` are zero.
struct TensorKernel {
    const char* name;
    const char* summary;
    /// Why it cannot, on a card of this compute capability (10 · major + minor); empty if it can.
    UnsupportedReason (*supports)(const Problem& problem, int compute_capability);
    void (*sample)(const ByteRows& train, const ByteRows& query, const TensorPass& pass, cudaStream_t stream);
    void (*search)(const ByteRows& train, const ByteRows& query, const TensorPass& pass, cudaStream_t stream);
    void (*load)(int dim);  ///< load_kernels; dim: pixels that are multiplied
    /// The search by sketches; null: there is none.
    void (*search_sketches)(const SketchPass& pass, std::int64_t train_rows, PassKind kind,
                            cudaStream_t stream) = nullptr;
};

/// All of them, the fastest first.
std::span<const TensorKernel* const> tensor_table();

/// Every pass of a tensor kernel calls this. Throws DeviceError if its arrays are not as above.
void check_pass(const ByteRows& train, const ByteRows& query, const TensorPass& pass, PassKind kind);

/// The indices of the pixels that the search multiplies, ascending: those that are not zero in all training images; at
/// least one. The others contribute nothing to q·r, so skipping them is exact; MNIST uses 717 of 784. Waits for the
/// device.
std::vector<std::int32_t> used_pixels(const ByteRows& train, cudaStream_t stream);

/// Copies the used pixels of training images (any pitch) in tile order, n_tiles · tile_train rows, to
/// `arranged`, zero beyond its `cols` and the last image; d_used: their indices, null: all, in whole groups of four;
/// d_images: norms and indices of images; d_score_bias: −⌊‖r‖² / 2⌋, padding_score for rows without an image.
void enqueue_prepare_training(const ByteRows& train, const std::int32_t* d_used, int n_tiles,
                              const ByteRows& arranged, TrainImage* d_images, std::int32_t* d_score_bias,
                              cudaStream_t stream);

/// Copies the used pixels of queries (any pitch) to `arranged`; d_norms: ‖q‖² of all pixels. No query is
/// undecided yet, or all of them are, if the passes of a tensor kernel do not pay.
void enqueue_prepare_queries(const ByteRows& query, const std::int32_t* d_used, const Undecided& undecided,
                             bool all_undecided, const ByteRows& arranged, std::uint32_t* d_norms,
                             cudaStream_t stream);

/// `pass` is the sampling pass. The rank-th largest of each query's maxima (1 <= rank <= buckets) becomes its
/// threshold, or the score at the distance of its k-th known neighbor if that is higher; rank 0 closes all queries. Rows
/// beyond those of the batch are closed.
void enqueue_thresholds(const TensorPass& pass, int rank, const Batch& batch, cudaStream_t stream);

/// Parameters of the fold after one pass of the search. `out` keeps the best from pass to pass.
struct FoldStep {
    bool is_first = true;  ///< `out` holds nothing yet
    bool is_last = true;   ///< gives the answer; else raises each threshold to the rank-th best so far
    int rank = 0;          ///< 1 <= rank <= k
};

/// Folds the survivors of a pass, and what the batch knows, into the k best of each query, and empties their lists. After
/// the last pass, queries that the survivors do not decide go into `pass.undecided`: a list overflowed, there were more
/// than a team can sort, or fewer than k reach the last threshold.
void enqueue_fold(const TensorPass& pass, const FoldStep& step, const Batch& batch, cudaStream_t stream);

/// Blocks of the brute-force fallback, and their shared workspace.
int brute_force_blocks();
struct BruteForceWorkspace {
    NeighborKey* d_keys = nullptr;       ///< brute_force_blocks() × k
    std::int32_t* d_finished = nullptr;  ///< brute_force_blocks(); 0 before and after a launch
};

/// The k nearest of the batch's undecided queries among the known and the training images, by comparing each with every
/// one. train and d_images: in tile order; query: the batch as the tensor kernels read it.
void enqueue_brute_force(const ByteRows& train, const TrainImage* d_images, const ByteRows& query,
                         const std::uint32_t* d_query_norms, const Batch& batch, const Undecided& undecided,
                         const BruteForceWorkspace& workspace, cudaStream_t stream);

/// Load the kernels onto the current device (load_kernels); of the fold the one for k <= 32.
void load_prepare();
void load_fold();
void load_brute_force();

}  // namespace knn::gpu
