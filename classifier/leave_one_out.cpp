#include "classifier/leave_one_out.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "classifier/cholesky.h"
#include "classifier/extra_rows.h"
#include "classifier/host.h"
#include "classifier/vote.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/core/round_up.h"
#include "data/rerank/density.h"

namespace knn {

namespace {

constexpr std::size_t max_mixed = 32, scaling_neighbors = 4;
constexpr double stiffness = 0.02, part_of_all = 0.4;
constexpr double least_energy = 1e-3;  ///< of a copy, so that the logarithm is finite

/// Rows of differences from the query.
using Differences = std::vector<std::vector<std::int16_t>>;
using Matrix = std::array<std::array<double, max_mixed>, max_mixed>;

std::int64_t product(const std::vector<std::int16_t>& a, const std::vector<std::int16_t>& b) {
    std::int64_t sum = 0;
    for (std::size_t first = 0; first < a.size(); first += 1024) {  // 1024 · 255² fits 32 bits
        const std::size_t last = std::min(a.size(), first + 1024);
        std::int32_t part = 0;
        for (std::size_t i = first; i < last; ++i)
            part += std::int32_t{a[i]} * b[i];
        sum += part;
    }
    return sum;
}

/// G of step 2, the lower half.
Matrix products(const Differences& differences) {
    Matrix g{};
    for (std::size_t i = 0; i < differences.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j)
            g[i][j] = static_cast<double>(product(differences[i], differences[j]));
    return g;
}

/// x of step 2 for the neighbors `used`, ascending, whatever its signs.
std::vector<double> mixture(const Matrix& products, const std::vector<std::size_t>& used) {
    const std::size_t m = used.size();
    Matrix a{};
    double trace = 0;
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            a[i][j] = products[used[i]][used[j]];
    for (std::size_t i = 0; i < m; ++i)
        trace += a[i][i];
    if (trace == 0) return std::vector<double>(m, 1 / static_cast<double>(m));
    for (std::size_t i = 0; i < m; ++i)
        a[i][i] += stiffness * trace / static_cast<double>(m);
    std::vector<double> x(m, 1.0);
    solve_by_cholesky(a, x);
    const double sum = std::accumulate(x.rbegin(), x.rend(), 0.0);
    for (double& one : x)
        one /= sum;
    return x;
}

/// r of step 3.
std::vector<double> unexplained(const Differences& differences) {
    const Matrix g = products(differences);
    std::vector<std::size_t> used(differences.size());
    std::iota(used.begin(), used.end(), std::size_t{0});
    std::vector<double> x = mixture(g, used);
    while (*std::min_element(x.begin(), x.end()) <= 0) {  // one is above 0: their sum is 1
        std::vector<std::size_t> left;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x[i] > 0) left.push_back(used[i]);
        used = std::move(left);
        x = mixture(g, used);
    }
    std::vector<double> rest(differences.front().size());
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t p = 0; p < rest.size(); ++p)
            rest[p] += x[i] * differences[used[i]][p];
    return rest;
}

/// e of step 3, by sums of all places above and to the left of each.
double energy(const std::vector<double>& rest, const FeatureGrid& grid) {
    const auto side = [](int length) { return std::max(1, (3 * length + 3) / 7); };  // rounded
    const int high = side(grid.rows), wide = side(grid.cols);
    const std::size_t width = static_cast<std::size_t>(grid.cols) + 1;
    std::vector<double> sums(width * (static_cast<std::size_t>(grid.rows) + 1));
    const auto sum = [&](int row, int col) -> double& {
        return sums[static_cast<std::size_t>(row) * width + static_cast<std::size_t>(col)];
    };
    double most = 0;
    const double* value = rest.data();
    for (int row = 1; row <= grid.rows; ++row)
        for (int col = 1; col <= grid.cols; ++col) {
            double here = 0;
            for (int i = 0; i < grid.depth; ++i, ++value)
                here += *value * *value;
            sum(row, col) = here + sum(row - 1, col) + sum(row, col - 1) - sum(row - 1, col - 1);
            if (row < high || col < wide) continue;
            most = std::max(most, sum(row, col) - sum(row - high, col) - sum(row, col - wide) +
                                      sum(row - high, col - wide));
        }
    return std::max(most, part_of_all * sum(grid.rows, grid.cols));
}

constexpr std::int64_t max_sampled_images = 4999;
constexpr std::int64_t images_per_piece = 16;

/// How many values are at least `value`.
double count_from(const std::vector<double>& ascending, double value) {
    return static_cast<double>(ascending.end() - std::lower_bound(ascending.begin(), ascending.end(), value));
}

/// Above 0, also of a value above all.
double share_from(const std::vector<double>& ascending, double value) {
    return (count_from(ascending, value) + 0.5) / (static_cast<double>(ascending.size()) + 1);
}

double square(double value) {
    return value * value;
}

}  // namespace

double novelty_score(const std::uint8_t* query, const ComparedRows& train,
                     std::span<const Neighbor> neighbors, std::uint8_t winner) {
    const auto dim = static_cast<std::size_t>(train.rows.dim);
    Differences differences;
    double scale = 0;
    for (const Neighbor& neighbor : neighbors) {
        if (train.labels[neighbor.index] != winner) continue;
        const std::uint8_t* row = train.row(neighbor.index);
        if (!train.density.empty() && differences.size() < scaling_neighbors)
            scale += std::log(std::ldexp(double(train.density_at(neighbor.index)), -density_shift));
        std::vector<std::int16_t>& difference = differences.emplace_back(dim);
        for (std::size_t p = 0; p < dim; ++p)
            difference[p] = static_cast<std::int16_t>(row[p] - query[p]);
        if (differences.size() == max_mixed) break;
    }
    scale /= static_cast<double>(std::min(differences.size(), scaling_neighbors));
    return std::log(std::max(energy(unexplained(differences), train.grid), least_energy)) + scale;
}

std::vector<std::uint32_t> strided_sample(std::int64_t n_train) {
    const std::int64_t m = std::min(max_sampled_images, n_train);
    std::vector<std::uint32_t> images;
    for (std::int64_t i = 0; i < m; ++i)
        images.push_back(static_cast<std::uint32_t>(i * n_train / m));
    return images;
}

void require_novelty(const Method& method) {
    if (method.transform.makes_reals())
        throw UsageError("§transform " + method.transform.text() +
                         ": makes float64, and only bytes tell what is no digit; expected another transform");
}

ComparedRows compared_rows(const Index& index) {
    const Training& used = index.training();
    Timeline timeline;
    return {index.set().features(index.method().transform, 0, nullptr, timeline).rows,
            grid_of(used.transform, used.shape), used.labels, index.reranking().density};
}

LeaveOneOut leave_one_out(const Index& index, const ComparedRows* compared, const ProgressToken& token,
                          const ExtraRows* extra) {
    const Training& training = index.training();
    const Method& method = index.method();
    const std::int64_t n = training.rows.count;
    if (n < min_sampled_images || method.vote.k >= n) return {};
    const std::vector<std::uint32_t> sample = strided_sample(n);
    const Queries queries = Queries::some_of(training.rows, sample);
    Results found = index.search(queries, {.token = token});
    if (extra != nullptr) extra->join(found, queries.rows, token.quiet());
    LeaveOneOut answers(sample.size());
    const auto answer = [&](std::int64_t q) {
        const auto neighbors = found.neighbors.row(q);
        const std::uint32_t image = sample[at(q)];
        const std::uint8_t label = found.votes[at(q)].label;
        const auto unlike = [&] {
            return novelty_score(compared->rows.row(image), *compared, found.voters(q), label);
        };
        answers[at(q)] = {.confidence_features = found.confidence_features[at(q)],
                          .novelty = compared != nullptr ? unlike() : 0,
                          .distance = mean_distance(neighbors, method.neighbor_measure()),
                          .nearest_label = training.labels[neighbors.front().index],
                          .right = std::uint32_t{label == training.labels[image]}};
    };
    for_rows(std::ssize(sample), images_per_piece, available_threads(),
             token.waiting(queries.count(), queries.count()), [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t q = first; q < last; ++q)
                     answer(q);
             });
    return answers;
}

std::optional<LeaveOneOut> find_sample(const TrainingSet& set, const Method& method, bool with_drawn) {
    const std::int64_t n = std::min(max_sampled_images, set.size());
    const auto kept = set.find<SampledAnswer>(with_drawn ? Fitted::drawn_sample : Fitted::sample, method, n);
    if (kept.empty()) return std::nullopt;
    return LeaveOneOut(kept.begin(), kept.end());
}

LeaveOneOut fitted_sample(const Index& index, const ProgressToken& token, const ExtraRows* extra) {
    const bool with_drawn = extra != nullptr;
    if (auto kept = find_sample(index.set(), index.method(), with_drawn)) return std::move(*kept);
    const ComparedRows compared = with_drawn ? extra->compared() : compared_rows(index);
    LeaveOneOut sample = leave_one_out(index, compared.rows.are_bytes() ? &compared : nullptr, token, extra);
    index.set().keep<SampledAnswer>(with_drawn ? Fitted::drawn_sample : Fitted::sample, index.method(),
                                    sample);
    return sample;
}

Rejection::Rejection(const LeaveOneOut& sample) {
    for (const SampledAnswer& one : sample) {
        unlike_.push_back(one.novelty);
        nearness_.push_back(-one.confidence_features.margin);
    }
    std::sort(unlike_.begin(), unlike_.end());
    std::sort(nearness_.begin(), nearness_.end());
    for (const SampledAnswer& one : sample)
        unusual_.push_back(unusual(one.confidence_features, one.novelty));
    std::sort(unusual_.begin(), unusual_.end());
}

double Rejection::unusual(const ConfidenceFeatures& confidence_features, double novelty) const {
    return square(std::log(share_from(unlike_, novelty))) +
           square(std::log(share_from(nearness_, -confidence_features.margin)));
}

double Rejection::p_value(const ConfidenceFeatures& confidence_features, double novelty) const {
    if (unusual_.empty()) return 1;
    return count_from(unusual_, unusual(confidence_features, novelty)) / static_cast<double>(unusual_.size());
}

std::string Rejection::reason(const ConfidenceFeatures& confidence_features, double novelty,
                              double loss) const {
    if (unusual_.empty() || p_value(confidence_features, novelty) >= loss) return "";
    const double unlike = share_from(unlike_, novelty),
                 near = share_from(nearness_, -confidence_features.margin);
    const auto text = [](double share) { return share < 0.001 ? "under 0.1 %" : percent(share, 1); };
    if (unlike <= near)
        return "unlike the training images: " + text(unlike) +
               " of them differ as much from the rest of their class";
    return "near more than one class: " + text(near) +
           " of the training images are as close to another class";
}

}  // namespace knn
