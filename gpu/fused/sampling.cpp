#include "gpu/fused/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace knn::gpu {

namespace {

constexpr int n_buckets = 64, max_rank = n_buckets * 3 / 4;

/// Costs in pixels of a tile's products, measured on compute capability 9.0.
constexpr double survivor_cost = 300;
/// By sketches: of a survivor, and of a tile of the sample.
constexpr double sketch_survivor_cost = 128, sketch_sample_cost = 80;

/// With `above` sample images over a threshold on average: whether at least k of a set `ratio` times as large
/// are over it too. The margin in standard deviations leaves hardly one of 10,000 queries for the brute-force
/// fallback, whose cost grows with k.
bool is_safe(double above, double ratio, int k) {
    const double deviations = k <= 128 ? 3.5 : 4.5;
    return (above - deviations * std::sqrt(above)) * ratio >= k;
}

/// The lowest safe rank once `seen` tiles are searched, at most k.
int rank_after(int seen, int train_tiles, int k) {
    const double ratio = static_cast<double>(train_tiles) / seen;
    int rank = 1;
    while (rank < k && !is_safe(rank, ratio, k))
        ++rank;
    return rank;
}

/// The ranks for these tile counts; sample_tiles = 0 if no rank is safe.
Sampling sampling_with(int train_tiles, int k, int sample_tiles, int first_tiles) {
    Sampling choice;
    const double sample_ratio = static_cast<double>(train_tiles) / sample_tiles;
    for (int rank = 1; rank <= max_rank && choice.sample_tiles == 0; ++rank) {
        const double above = images_above(rank, n_buckets);
        if (rank < k && !is_safe(above, sample_ratio, k)) continue;
        choice.sample_tiles = sample_tiles;
        choice.sample_rank = rank;
        choice.spread = 1 / std::sqrt(above);
        choice.passes.push_back(
            {0, first_tiles, above * first_tiles / sample_tiles, rank_after(first_tiles, train_tiles, k)});
    }
    return choice;
}

/// Adds the passes after the first; returns the survivors of all. known: neighbors of other images are known.
double add_passes(Sampling& choice, int train_tiles, int k, int pass_tiles, bool known = false) {
    double sum = choice.passes.front().survivors;
    for (int seen = choice.passes.front().n_tiles; seen < train_tiles;) {
        const int n = std::min(pass_tiles, train_tiles - seen);
        // If the pass before finds too few, its threshold remains.
        const double reaching = std::min<double>(choice.passes.back().rank, choice.passes.front().survivors);
        const double survivors = reaching * n / seen;
        choice.passes.push_back({seen, n, survivors, known ? k : rank_after(seen + n, train_tiles, k)});
        sum += survivors;
        seen += n;
    }
    return sum;
}

}  // namespace

double images_above(int rank, int buckets) {
    return -buckets * std::log1p(-static_cast<double>(rank) / buckets);
}

double sketch_survivors(double exact) {
    return 8 * exact + 40;
}

Sampling choose_sampling(int train_tiles, int k, int dim, int pass_tiles) {
    Sampling best;
    double least = std::numeric_limits<double>::infinity();
    const auto next = [](int tiles) { return tiles + std::max(tiles / 8, 1); };
    const int most_first = std::clamp(train_tiles / 2, 1, pass_tiles);
    for (int sample = 1; sample <= std::max(train_tiles / 8, 1); sample = next(sample))
        for (int first = sample; first <= most_first; first = next(first)) {
            Sampling choice = sampling_with(train_tiles, k, sample, first);
            if (choice.sample_tiles == 0) continue;
            const double survivors = add_passes(choice, train_tiles, k, pass_tiles);
            const double cost = static_cast<double>(sample) * dim + survivor_cost * survivors;
            if (cost >= least) continue;
            least = cost;
            best = std::move(choice);
        }
    return best;
}

Sampling choose_sketch_sampling(int train_tiles, int k, int pass_tiles, bool known) {
    const int first = std::min(train_tiles, pass_tiles);
    // Where the sample and the survivors of the first pass cost least together.
    const double slope = sketch_survivors(k) - sketch_survivors(0);
    int sample = static_cast<int>(std::sqrt(sketch_survivor_cost * slope * first / sketch_sample_cost));
    if (known) sample /= 4;
    Sampling choice;
    choice.sample_tiles = std::clamp(sample, std::min(train_tiles, 2), train_tiles);
    choice.sample_rank = k;
    choice.passes.push_back({0, first, static_cast<double>(k) * first / choice.sample_tiles,
                             known ? k : rank_after(first, train_tiles, k)});
    add_passes(choice, train_tiles, k, pass_tiles, known);
    return choice;
}

Sampling sampling_of_known(int train_tiles, int k, int pass_tiles) {
    // More would leave more survivors than a fold can sort where only the sample's thresholds help. Fewer, if 64 maxima
    // of this many tiles have no safe rank.
    constexpr int tiles_per_sample = 20;
    const int first = std::min(train_tiles, pass_tiles);
    Sampling choice;
    for (int sample = std::max(first / tiles_per_sample, 1); sample > 0 && choice.sample_tiles == 0;
         sample -= std::max(sample / 8, 1))
        choice = sampling_with(train_tiles, k, sample, first);
    if (choice.sample_tiles == 0) return choice;
    choice.passes.front().rank = k;
    add_passes(choice, train_tiles, k, pass_tiles, true);
    return choice;
}

}  // namespace knn::gpu
