#include "gpu/fused/sampling.h"

#include <algorithm>
#include <cmath>

namespace knn::gpu {

namespace {

constexpr int n_buckets = 64, most_rank = n_buckets * 3 / 4;
constexpr int sample_ratio = 26,
              first_ratio = 8;  // training tiles for each tile of the sample, of the first pass

/// Whether with `above` images of the sample over a threshold, on average, at least k of `ratio` times as
/// many are sure to be: by three and a half standard deviations.
bool is_safe(double above, double ratio, int k) {
    return (above - 3.5 * std::sqrt(above)) * ratio >= k;
}

}  // namespace

double images_above(int rank, int buckets) {
    return -buckets * std::log1p(-static_cast<double>(rank) / buckets);
}

Sampling choose_sampling(int train_tiles, int k) {
    Sampling choice;
    for (int tiles = std::max(train_tiles / sample_ratio, 1); choice.sample_tiles == 0; tiles /= 2) {
        if (tiles == 0) return choice;
        const double ratio = static_cast<double>(train_tiles) / tiles;
        for (int rank = 1; rank <= most_rank && choice.sample_tiles == 0; ++rank) {
            const double above = images_above(rank, n_buckets);
            if (rank < k && !is_safe(above, ratio, k)) continue;
            choice.sample_tiles = tiles;
            choice.sample_rank = rank;
            choice.survivors_first = above;  // of the sample; scaled below
            choice.spread = 1 / std::sqrt(above);
        }
    }
    choice.first_tiles = std::max(train_tiles / first_ratio, choice.sample_tiles);
    const double first_share = static_cast<double>(choice.first_tiles) / choice.sample_tiles;
    choice.survivors_first *= first_share;
    const double ratio = static_cast<double>(train_tiles) / choice.first_tiles;
    choice.first_rank = 1;
    while (choice.first_rank < k && !is_safe(choice.first_rank, ratio, k))
        ++choice.first_rank;
    // Where the first pass finds too few, its threshold stays.
    choice.survivors_rest = std::min<double>(choice.first_rank, choice.survivors_first) * (ratio - 1);
    return choice;
}

}  // namespace knn::gpu
