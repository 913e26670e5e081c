#pragma once
/// How the fused search chooses its thresholds; plain arithmetic, no CUDA.

#include <cstddef>
#include <vector>

namespace knn::gpu {

/// Consecutive training tiles that one pass searches.
struct SearchPass {
    int first_tile = 0, n_tiles = 0;
    double survivors = 0;  ///< expected per query
    int rank = 0;          ///< the rank-th best so far is the threshold of the next pass
};

/// First, `sample_tiles` tiles of the training set give each query 64 maxima, one per 64th of the sample;
/// the sample_rank-th best of them is the threshold of the first pass. After each pass the threshold becomes that of the
/// rank-th best so far.
///
/// Ranks are as low as is safe: `k` images must reach the last threshold, else the query is compared with the
/// whole training set. The numbers of tiles minimize the estimated time: a tile of the sample costs products and
/// saves survivors.
struct Sampling {
    int sample_tiles = 0;  ///< 0: no useful sample
    int sample_rank = 0;
    std::vector<SearchPass> passes;  ///< all tiles of the training set
    double spread = 0;               ///< of the first pass's survivors: standard deviation / mean
};
/// dim: pixels that are multiplied. pass_tiles: at most so many tiles in a pass, so that its survivors fit.
Sampling choose_sampling(int train_tiles, int k, int dim, int pass_tiles);

/// Of a search by sketches: the k-th exact distance among the nearest sketches of the sample is the first threshold, which needs no
/// margin. known: as below.
Sampling choose_sketch_sampling(int train_tiles, int k, int pass_tiles, bool known);

/// Survivors by sketches where `exact` images reach the threshold: measured on MNIST, 4 to 13 times as many, the fewer the
/// more.
double sketch_survivors(double exact);

/// The same where the k nearest in other images are known: the k-th of them gives a threshold too. If those images are a
/// fair sample of all, it is the higher one, and few survive. The sample is for sets where they are not, as parts of a
/// set that is sorted by class: there it keeps the lists short. So it is small, and all ranks are k.
Sampling sampling_of_known(int train_tiles, int k, int pass_tiles);

/// Expected number of images above the rank-th largest bucket maximum, for random images in disjoint buckets
/// of equal size.
double images_above(int rank, int buckets);

}  // namespace knn::gpu
