#include "gpu/fused/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace knn::gpu {

namespace {

constexpr int n_buckets = 64, max_rank = n_buckets * 3 / 4;

/// Cost of a survivor in pixels of a tile's products, measured on compute capability 9.0.
constexpr double survivor_cost = 300;

/// With `above` sample images over a threshold on average: whether at least k of a set `ratio` times as large
/// are over it too. The margin in standard deviations leaves hardly one of 10,000 queries for the exhaustive
/// scan, whose cost grows with k.
bool is_safe(double above, double ratio, int k) {
    const double deviations = k <= 128 ? 3.5 : 4.5;
    return (above - deviations * std::sqrt(above)) * ratio >= k;
}

}  // namespace

double images_above(int rank, int buckets) {
    return -buckets * std::log1p(-static_cast<double>(rank) / buckets);
}

namespace {

/// The ranks for these tile counts, and the expected survivors; sample_tiles = 0 if no rank is safe.
Sampling sampling_with(int train_tiles, int k, int sample_tiles, int first_tiles) {
    Sampling choice;
    const double sample_ratio = static_cast<double>(train_tiles) / sample_tiles;
    for (int rank = 1; rank <= max_rank && choice.sample_tiles == 0; ++rank) {
        const double above = images_above(rank, n_buckets);
        if (rank < k && !is_safe(above, sample_ratio, k)) continue;
        choice.sample_tiles = sample_tiles;
        choice.sample_rank = rank;
        choice.survivors_first = above * first_tiles / sample_tiles;
        choice.spread = 1 / std::sqrt(above);
    }
    const double ratio = static_cast<double>(train_tiles) / first_tiles;
    choice.first_tiles = first_tiles;
    choice.first_rank = 1;
    while (choice.first_rank < k && !is_safe(choice.first_rank, ratio, k))
        ++choice.first_rank;
    // If the first pass finds too few, its threshold remains.
    choice.survivors_rest = std::min<double>(choice.first_rank, choice.survivors_first) * (ratio - 1);
    return choice;
}

}  // namespace

Sampling choose_sampling(int train_tiles, int k, int dim) {
    Sampling best;
    double least = std::numeric_limits<double>::infinity();
    const auto next = [](int tiles) { return tiles + std::max(tiles / 8, 1); };
    for (int sample = 1; sample <= std::max(train_tiles / 8, 1); sample = next(sample))
        for (int first = sample; first <= std::max(train_tiles / 2, 1); first = next(first)) {
            const Sampling choice = sampling_with(train_tiles, k, sample, first);
            const double cost = static_cast<double>(sample) * dim +
                                survivor_cost * (choice.survivors_first + choice.survivors_rest);
            if (choice.sample_tiles == 0 || cost >= least) continue;
            least = cost;
            best = choice;
        }
    return best;
}

}  // namespace knn::gpu
