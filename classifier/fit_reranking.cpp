#include <algorithm>
#include <array>

#include "classifier/index.h"
#include "data/core/clock.h"
#include "data/core/errors.h"
#include "data/core/round_up.h"
#include "data/rerank/density.h"

namespace knn {

namespace {

/// spread_terms (data/rerank/spread.h) of the training images: one search of each class among its own images, by the
/// plan's engine. training.transform: that of the method, fitted. Adds the stages of the searches to `timeline`.
std::vector<std::int64_t> fitted_spread(const Training& training, const Method& method,
                                        const Resolved& resolved, Timeline& timeline,
                                        const ProgressToken& token) {
    const bool has_features = training.features.count > 0;
    const Rows& rows = has_features ? training.features : training.rows;
    const std::int64_t n = rows.count;
    if (std::ssize(training.labels) != n)
        throw UsageError("§rerank spread: needs the images' classes; expected images with labels");
    const LocalScaling& spread = method.rerank.spread;
    std::array<std::vector<std::uint32_t>, 256> classes;
    for (std::uint32_t i = 0; i < n; ++i)
        classes[training.labels[i]].push_back(i);
    std::vector<std::optional<ClassDistances>> distances(at(n));
    std::int64_t done = 0;
    for (const std::vector<std::uint32_t>& images : classes) {
        const std::int64_t count = std::ssize(images);
        const auto k = static_cast<int>(std::min<std::int64_t>(spread.neighbors, count - 1));
        if (k > 0) {
            const std::vector<std::uint8_t> bytes = gathered(rows, images);
            const Training members{.rows = {bytes.data(), count, rows.dim},
                                   .labels = {},
                                   .shape = training.shape,
                                   .transform = has_features ? nullptr : training.transform};
            const auto index = resolved.engine->open(members, method.measure, resolved.plan, timeline);
            const Neighbors nearest =
                nearest_of(*index, Queries::all_of(members.rows), k, timeline, token.part(done, n));
            for (std::int64_t i = 0; i < count; ++i)
                distances[images[at(i)]] = class_distances(spread.of, nearest.row(i));
        }
        done += count;
    }
    return spread_terms(spread, distances);
}

double sum_ms(const Timeline& timeline) {
    double sum = 0;
    for (const Stage& stage : timeline.stages())
        sum += stage.total_ms;
    return sum;
}

}  // namespace

void Index::fit_reranking(const Resolved& resolved, const ProgressToken& token) {
    const auto start = Clock::now();
    const double listed_ms = sum_ms(opening_);
    const bool fits = !is_fitted(set_, method_);
    reranking_.rerank = method_.rerank;
    if (method_.rerank.has_descriptors()) {
        reranking_.density = fits ? fitted_density(resolved, token)
                                  : set_.find<std::uint32_t>(Fitted::density, method_, set_.size());
    } else {
        Training compared = training_;
        if (fits && plan_.stages.transform == StagePlace::host && compared.features.count == 0)
            compared.features = set_.features(method_.transform, plan_.threads, token.stop, opening_).rows;
        reranking_.spread =
            fits ? set_.keep<std::int64_t>(Fitted::spread, method_,
                                           fitted_spread(compared, method_, resolved, opening_, token))
                 : set_.find<std::int64_t>(Fitted::spread, method_, set_.size());
    }
    if (!fits) return;
    const double own_ms = ms_since(start) - (sum_ms(opening_) - listed_ms);  // its searches are other stages
    opening_.add({.name = "fit", .launches = 1, .total_ms = std::max(0.0, own_ms), .kind = StageKind::host});
}

/// The density of the training set is that of a search without density, each image among all others.
std::span<const std::uint32_t> Index::fitted_density(const Resolved& resolved, const ProgressToken& token) {
    Method first = method_;
    first.rerank.density = false;
    first.rerank.candidates = density_candidates;
    first.vote = {.k = static_cast<int>(std::min<std::int64_t>(density_neighbors, set_.size() - 1))};
    const Index index(set_, first, resolved, token);
    const Results nearest = index.search(Queries::all_of(set_.images()), {.vote = false, .token = token});
    opening_.add(index.opening());
    opening_.add(nearest.timeline);
    return set_.keep<std::uint32_t>(Fitted::density, method_, density_factors(nearest.neighbors));
}

bool is_fitted(const TrainingSet& set, const Method& method) {
    if (!method.reranks()) return true;
    const std::int64_t n = set.size();
    if (!method.rerank.has_descriptors()) return !set.find<std::int64_t>(Fitted::spread, method, n).empty();
    const bool has_density = method.rerank.density && n > 1;
    return !has_density || !set.find<std::uint32_t>(Fitted::density, method, n).empty();
}

}  // namespace knn
