#include "cpu/sketches.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "cpu/kernels/kernels.h"
#include "data/core/clock.h"
#include "data/core/neighbors.h"
#include "data/core/round_up.h"

namespace knn::cpu {

namespace {

constexpr std::int64_t rows_at_once = 64;
/// Rows between two looks at the stop token.
std::int64_t piece_of(std::int64_t dim) {
    return std::clamp<std::int64_t>((1 << 17) / dim, 1, rows_at_once);
}

/// Below, refinement takes as long as it saves.
constexpr std::int64_t least_images = 2048;
/// What a pair takes beside its products, in columns.
constexpr double column_overhead = 40;
/// Candidates of a query of MNIST that are refined.
double refined_of(int k) {
    return 30 + 9 * k;
}
/// Pairs for each image of the set itself, and the cost of one.
double pairs_refined_of(int k) {
    return 40 + 5 * k;
}
constexpr double pair_refinement = 0.2;
/// The time of making, in refinements: of one sketch, and of fitting.
constexpr double making_sketch = 13, fitting = 300'000;
/// The largest part of the time of direct products that refinement may take where sketches are made.
constexpr double most_left = 0.6;

/// The part of pairs that a rough sketch leaves of a set that none suits.
constexpr double hopeless = 0.25;

/// Of `n` rows spread over the set, from row `first` on.
std::vector<std::uint32_t> spread_rows(const Rows& rows, std::int64_t first, std::int64_t n) {
    std::vector<std::uint32_t> images;
    for (std::int64_t i = 0; i < n; ++i)
        images.push_back(static_cast<std::uint32_t>((first + i * rows.count / n) % rows.count));
    return images;
}

/// Rows spread over the set, as they are sketched: directions of cosine and pearson, without their rests.
struct Sample {
    static constexpr std::int64_t most = 1024;

    Sample(const Resident& exact, const std::optional<Directions>& directions)
        : of(exact.train.count),
          pixels(gathered(exact.train, spread_rows(exact.train, 0, std::min(most, exact.train.count)))),
          rows{pixels.data(), std::min(most, exact.train.count), exact.train.dim} {
        for (std::int64_t i = 0; directions && i < rows.count; ++i) {
            std::uint8_t* row = pixels.data() + i * rows.dim;
            direction_of(*directions, row, rows.dim, row);
        }
    }

    std::int64_t of;  ///< rows of the set
    std::vector<std::uint8_t> pixels;
    Rows rows;
};

/// The part of pairs that sketches leave at the k-th distance, by a sample: each of some queries is compared with some images, at
/// the distance of as small a part of them as k is of all. If that is less than one image, the part is extrapolated: on MNIST
/// it falls with the images to the power of 0.75.
double share_left(const Sketch& sketch, const Sample& sample, int k, const ProgressToken& token) {
    constexpr std::int64_t n_queries = 32;
    const Rows& images = sample.rows;
    const Kernel& kernel = chosen_kernel();
    const std::int64_t count = images.count;
    SketchRows made(count, sketch.columns);
    const Sketcher sketcher{sketch, {}};
    const std::int64_t piece = piece_of(images.dim);
    for (std::int64_t first = 0; first < count; first += piece) {
        token.throw_if_stopped();
        sketcher.make(images.slice(first, std::min(piece, count - first)), kernel, first, made);
    }
    const std::int64_t rank = std::min(count - 1, k * count / sample.of);
    std::vector<std::uint32_t> bounds(static_cast<std::size_t>(count)), distances(bounds.size());
    double left = 0;
    for (std::int64_t query = 0; query < n_queries; ++query) {
        token.throw_if_stopped();
        const auto q = static_cast<std::size_t>(query * count / n_queries);
        const auto at = static_cast<std::int64_t>(q);
        kernel.direct(made.view().row(at), made.bytes.data(), count, sketch.columns, bounds.data());
        kernel.direct(images.row(at), images.row(0), count, images.dim, distances.data());
        distances[q] = no_limit;
        std::nth_element(distances.begin(), distances.begin() + rank, distances.end());
        const std::uint64_t reach =
            std::uint64_t{sketch_reach(sketch.stretch, distances[static_cast<std::size_t>(rank)])} +
            made.errors[q];
        for (std::size_t i = 0; i < bounds.size(); ++i)
            left += bounds[i] <= sketch_limit(reach + made.errors[i]) ? 1 : 0;
    }
    const double sampled = static_cast<double>(k * count) / static_cast<double>(sample.of);
    return left / static_cast<double>(n_queries * count) * std::pow(std::min(sampled, 1.0), 0.75);
}

/// Fitted in a tenth of the time. To decline it is enough, and a search of a set in itself may be as short as ten fits.
Sketch rough_sketch(const Rows& rows, const ProgressToken& token) {
    constexpr std::int64_t n_images = 256, columns = 64;
    const std::vector<std::uint8_t> some = gathered(rows, spread_rows(rows, 0, n_images));
    return fit_sketch({some.data(), n_images, rows.dim}, columns, token);
}

}  // namespace

SketchRows::SketchRows(std::int64_t count, std::int64_t columns_)
    : columns(columns_),
      bytes(static_cast<std::size_t>(count * columns)),
      errors(static_cast<std::size_t>(count)),
      sums(static_cast<std::size_t>(count)) {}

double refinement_cost(const Resident& exact) {
    return exact.kernel.refinement_cost * std::max(1.0, 784.0 / static_cast<double>(exact.train.dim));
}

double pair_refinement_cost(const Resident& exact) {
    return pair_refinement * refinement_cost(exact);
}

void Sketcher::make(const Rows& rows, const Kernel& kernel, std::int64_t first, SketchRows& made) const {
    std::vector<std::int32_t> sums(static_cast<std::size_t>(rows_at_once * sketch.axes));
    std::vector<std::uint8_t> directed(static_cast<std::size_t>(directions ? rows_at_once * rows.dim : 0));
    for (std::int64_t begin = 0; begin < rows.count; begin += rows_at_once) {
        const std::int64_t n = std::min(rows_at_once, rows.count - begin);
        double rests[rows_at_once];
        for (std::int64_t i = 0; directions && i < n; ++i) {
            const std::uint8_t* row = rows.row(begin + i);
            rests[i] = direction_of(*directions, row, rows.dim, directed.data() + i * rows.dim);
            made.sums[static_cast<std::size_t>(first + begin + i)] = sums_of(row, rows.dim);
        }
        kernel.weigh(sketch.weights.data(), sketch.axes, directions ? directed.data() : rows.row(begin), n,
                     rows.dim, sums.data());
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t place = first + begin + i;
            std::uint32_t& error = made.errors[static_cast<std::size_t>(place)];
            error = sketch_sums(sketch, sums.data() + i * sketch.axes,
                                made.bytes.data() + place * sketch.columns);
            if (directions) error += sketch_reach(sketch.stretch, rests[i] * rests[i]);
            error = std::min(error, no_bound);
        }
    }
}

std::uint32_t Sketcher::reach(std::uint32_t score) const {
    if (!directions) return sketch_reach(sketch.stretch, score);
    if (score >= first_no_number) return no_bound;
    // The score was rounded to a float.
    const double distance = std::bit_cast<float>(score) * (1 + 0x1p-22) + 0x1p-40;
    return sketch_reach(sketch.stretch * directions->factor, 2 * distance);
}

Sketched::Sketched(Sketcher sketcher, std::int64_t count, const Kernel& kernel, const Plan& plan)
    : sketcher_(std::move(sketcher)),
      exact_kernel_(&kernel),
      rows_(count, sketcher_.sketch.columns),
      exact_(static_cast<std::size_t>(count * sketcher_.sketch.dim)),
      resident_{rows_.view(), {}, sketcher_.directions ? chosen_kernel() : kernel, plan},
      panel_errors_(static_cast<std::size_t>(divide_up(count, resident_.kernel.images))) {
    advise_large_pages(exact_.data(), exact_.size());
}

Sketched::Sketched(Sketcher sketcher, const Resident& exact, Team& team, Timeline& timeline,
                   Clock::time_point start)
    : Sketched(std::move(sketcher), exact.train.count, exact.kernel, exact.plan) {
    team.run_pieces(
        exact.train.count, piece_of(exact.train.dim), [&](int, std::int64_t first, std::int64_t last) {
            std::copy(exact.train.row(first), exact.train.row(last), exact_.data() + first * exact.train.dim);
            sketcher_.make(exact.train.slice(first, last - first), kernel(), first, rows_);
        });
    finish(team, timeline, start, 1);
}

Sketched::Sketched(const Sketched& other, std::span<const std::uint32_t> order, Team& team,
                   Timeline& timeline)
    : Sketched(other.sketcher_, std::ssize(order), *other.exact_kernel_, other.resident_.plan) {
    const auto start = Clock::now();
    const Rows exact_rows = other.exact(), sketches = other.rows();
    team.run_pieces(
        std::ssize(order), piece_of(exact_rows.dim), [&](int, std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) {
                const auto at = static_cast<std::size_t>(i);
                const std::int64_t from = order[at];
                std::copy_n(exact_rows.row(from), exact_rows.dim, exact_.data() + i * exact_rows.dim);
                std::copy_n(sketches.row(from), sketches.dim, rows_.bytes.data() + i * sketches.dim);
                rows_.errors[at] = other.error(from);
                if (sketcher_.directions) rows_.sums[at] = other.sums(from);
            }
        });
    finish(team, timeline, start, 0);
}

std::uint32_t Sketched::score(const std::uint8_t* row, const PixelSums& sums_of_row,
                              std::int64_t image) const {
    const std::int64_t dim = sketcher_.sketch.dim;
    std::uint32_t sum = 0;
    exact_kernel_->direct(row, exact().row(image), 1, dim, &sum);
    if (!sketcher_.directions) return sum;
    return Correlation{sketcher_.directions->centered, dim}.score(sum, sums_of_row, sums(image));
}

void Sketched::finish(Team& team, Timeline& timeline, Clock::time_point start, std::int64_t launches) {
    for (std::int64_t i = 0; i < rows_.view().count; ++i) {
        std::uint32_t& most = panel_errors_[static_cast<std::size_t>(i / kernel().images)];
        most = std::max(most, error(i));
    }
    timeline.add({.name = "sketch", .launches = launches, .total_ms = ms_since(start), .once = true});
    resident_.pack(team, timeline);
}

std::unique_ptr<const Sketched> make_sketched(const Resident& exact, std::int64_t columns, int k,
                                              bool is_training_set, Team& team, Timeline& timeline,
                                              const ProgressToken& token) {
    const auto start = Clock::now();
    const bool automatic = exact.plan.sketch == SketchColumns::automatic;
    // Of a set in itself direct products have half of the pairs.
    const double cost = is_training_set ? 2 * pair_refinement_cost(exact) : refinement_cost(exact);
    const auto directions = fit_directions(exact.train, exact.measure.metric);
    const Sample sample(exact, directions);
    if (!automatic || !is_training_set ||
        share_left(rough_sketch(sample.rows, token), sample, k, token) < hopeless) {
        Sketch sketch =
            cached_fit(directions ? sample.rows : exact.train, columns, exact.plan.caches_fits, token);
        if (!automatic || share_left(sketch, sample, k, token) * cost < most_left)
            return std::make_unique<Sketched>(Sketcher{std::move(sketch), directions}, exact, team, timeline,
                                              start);
    }
    timeline.add({.name = "sketch", .launches = 1, .total_ms = ms_since(start), .once = true});
    return nullptr;
}

double sketching_cost(const Resident& exact) {
    return refinement_cost(exact) * (making_sketch * static_cast<double>(exact.train.count) + fitting);
}

bool sketches_pay(const Resident& exact, std::int64_t columns, std::int64_t n_query, int k, double making,
                  bool is_training_set) {
    const Rows& train = exact.train;
    if (train.count < least_images || k > train.count / 64) return false;
    const auto n = static_cast<double>(train.count), dim = static_cast<double>(train.dim);
    // Several threads search for the same few queries, each with limits of its own.
    const std::int64_t strips = std::max<std::int64_t>(divide_up(n_query, exact.kernel.queries), 1);
    const auto slices = static_cast<double>(divide_up(exact.plan.threads, strips));
    const double refined = is_training_set ? pair_refinement_cost(exact) * pairs_refined_of(k)
                                           : slices * refinement_cost(exact) * refined_of(k);
    const double pairs = is_training_set ? n / 2 : n;
    const double saved = pairs * (1 - (static_cast<double>(columns) + column_overhead) / dim) - refined;
    return saved * static_cast<double>(n_query) > making;
}

std::int64_t Sketched::bytes(const Kernel& kernel, const Rows& train, std::int64_t columns) {
    return Panels::bytes(kernel, train.count, columns) +
           train.count * (train.dim + columns + std::int64_t{sizeof(std::uint32_t) + sizeof(PixelSums)});
}

}  // namespace knn::cpu
