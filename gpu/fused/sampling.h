#pragma once
/// How the fused search comes by its thresholds; plain arithmetic, no CUDA.

namespace knn::gpu {

/// First, `sample_tiles` tiles of the training set give each query 64 maxima, one of each 64th of the sample,
/// and the sample_rank-th best of them is its threshold. With it the first `first_tiles` tiles are searched;
/// the first_rank-th best of what survives there is the threshold for all others.
///
/// Ranks are as low as seems safe: `k` images must reach the last threshold, and where they do not the query
/// is compared with the whole training set. The numbers of tiles are those that seem fastest: a tile of the
/// sample costs products, and saves survivors.
struct Sampling {
    int sample_tiles = 0;  ///< 0: there is no useful sample
    int sample_rank = 0;
    int first_tiles = 0;
    int first_rank = 0;
    double survivors_first = 0, survivors_rest = 0;  ///< expected of a query, in each pass
    double spread = 0;  ///< of those of the first pass: standard deviation over mean
};
/// dim: pixels that are multiplied.
Sampling choose_sampling(int train_tiles, int k, int dim);

/// Of disjoint buckets with equally many random images, how many images lie above the rank-th largest of the
/// buckets' maxima, on average.
double images_above(int rank, int buckets);

}  // namespace knn::gpu
