#pragma once
/// How the fused search chooses its thresholds; plain arithmetic, no CUDA.

namespace knn::gpu {

/// First, `sample_tiles` tiles of the training set give each query 64 maxima, one per 64th of the sample;
/// the sample_rank-th best of them is its threshold. With it the first `first_tiles` tiles are searched; the
/// first_rank-th best of their survivors is the threshold for all other tiles.
///
/// Ranks are as low as is safe: `k` images must reach the last threshold, else the query is compared with the
/// whole training set. The tile counts minimize the estimated time: a tile of the sample costs products and
/// saves survivors.
struct Sampling {
    int sample_tiles = 0;  ///< 0: no useful sample
    int sample_rank = 0;
    int first_tiles = 0;
    int first_rank = 0;
    double survivors_first = 0, survivors_rest = 0;  ///< expected per query, in each pass
    double spread = 0;                               ///< of survivors_first: standard deviation / mean
};
/// dim: pixels that are multiplied.
Sampling choose_sampling(int train_tiles, int k, int dim);

/// Expected number of images above the rank-th largest bucket maximum, for random images in disjoint buckets
/// of equal size.
double images_above(int rank, int buckets);

}  // namespace knn::gpu
