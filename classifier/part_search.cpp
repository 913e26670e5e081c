#include "classifier/part_search.h"

#include <algorithm>
#include <numeric>

#include "classifier/vote.h"
#include "cpu/rerank/rerank.h"
#include "cpu/search.h"
#include "data/core/errors.h"
#include "data/core/format.h"

namespace knn {

namespace {

std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

Indices all_indices(std::int64_t n) {
    Indices all(at(n));
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

LabeledImages copied(const Training& training, std::span<const std::uint32_t> images) {
    const auto dim = at(training.rows.dim);
    LabeledImages copy{std::ssize(images), training.shape.rows, training.shape.cols,
                       Bytes(images.size() * dim), Bytes(images.size())};
    for (std::size_t i = 0; i < images.size(); ++i) {
        std::copy_n(training.rows.row(images[i]), dim, copy.pixels.data() + i * dim);
        copy.labels.data()[i] = training.labels[images[i]];
    }
    return copy;
}

void require_others(int k, std::int64_t n) {
    if (n < 2)
        throw DataError("training set: has 1 image, which has no neighbor; expected at least 2 images");
    if (k > n - 1)
        throw UsageError("-k " + std::to_string(k) + ": each of " + with_commas(n) +
                         " images has fewer others; expected at most " + std::to_string(n - 1));
}

PartSearch::PartSearch(const TrainingSet& set, const Method& method, const Resolved& resolved,
                       const Watch& watch)
    : method_(method),
      resolved_(resolved),
      fitted_(set, method, resolved, watch.quiet()),
      training_(fitted_.training()) {
    Timeline timeline;
    features_ = set.features(method.transform, threads(), nullptr, timeline).rows;
    if (method.rerank.has_descriptors())
        described_ = set.descriptors(method.rerank, threads(), nullptr, false);
}

std::vector<std::uint8_t> PartSearch::gathered(std::span<const std::uint32_t> images) const {
    const Rows& all = features_;
    std::vector<std::uint8_t> rows;
    rows.reserve(images.size() * at(all.dim));
    for (const std::uint32_t image : images)
        rows.insert(rows.end(), all.row(image), all.row(image) + all.dim);
    return rows;
}

int PartSearch::depth(std::int64_t n) const {
    const int voters = method_.voters(n);
    return method_.reranks() ? training_.reranking->candidates(voters, n, false) : voters;
}

Neighbors PartSearch::nearest_others(int k, const Watch& watch) const {
    Timeline timeline;
    const auto searcher = resolved_.engine->open({features_, {}}, method_.measure, resolved_.plan, timeline);
    return searcher->search(features_, k, Exclude{.first = 0}, timeline, watch);
}

Neighbors PartSearch::nearest(std::span<const std::uint32_t> queries, std::span<const std::uint32_t> among,
                              int k, const Watch& watch) const {
    const std::int64_t dim = features_.dim;
    const std::vector<std::uint8_t> train = gathered(among);
    const Rows train_rows{train.data(), std::ssize(among), dim};
    std::vector<std::uint8_t> query;
    Rows query_rows = train_rows;  // the CPU compares a set with itself in half the time
    if (!std::ranges::equal(queries, among)) {
        query = gathered(queries);
        query_rows = {query.data(), std::ssize(queries), dim};
    }
    Timeline timeline;
    const auto searcher = resolved_.engine->open({train_rows, {}}, method_.measure, resolved_.plan, timeline);
    Neighbors found = searcher->search(query_rows, k, Exclude{}, timeline, watch);
    for (Neighbor& neighbor : found.rows)
        neighbor.index = among[neighbor.index];
    return found;
}

PartSearch::Distances::Distances(const PartSearch& set, std::span<const std::uint32_t> images)
    : set_(set), rows_(set.gathered(images)), count_(std::ssize(images)) {
    const std::int64_t dim = set.features_.dim;
    const Engine& engine = *find_engine("cpu");
    Plan plan{.engine = engine.name, .device = cpu_device(), .threads = 1};
    const Problem problem{count_, 1, dim, static_cast<int>(count_), set.method_.measure};
    if (const Refusal why = engine.settle(problem, plan)) throw UsageError(*why);
    Timeline timeline;
    searcher_ = engine.open({{rows_.data(), count_, dim}, {}}, set.method_.measure, plan, timeline);
}

std::vector<Neighbor> PartSearch::Distances::from(std::uint32_t image) {
    Timeline timeline;
    return searcher_
        ->search(set_.features_.slice(image, 1), static_cast<int>(count_), Exclude{}, timeline, {})
        .rows;
}

int PartSearch::threads() const {
    return resolved_.engine->on_gpu ? cpu::available_threads() : resolved_.plan.threads;
}

std::vector<std::uint8_t> PartSearch::answers(std::span<const std::uint32_t> images,
                                              const Neighbors& nearest) const {
    const int threads = images.size() > 1 ? this->threads() : 1;
    const int voters = std::min(method_.voters(nearest.k), nearest.k);
    Neighbors voting;
    if (method_.rerank.has_descriptors()) {
        Descriptors queries{described_.layout, {}};
        for (const std::uint32_t image : images)
            queries.bytes.insert(queries.bytes.end(), described_.row(image),
                                 described_.row(image) + queries.layout.bytes());
        voting = cpu::rerank(nearest, queries, described_, training_.reranking->density, voters, threads);
    } else if (method_.reranks()) {
        voting = cpu::scaled(method_.rerank, nearest, training_.reranking->spread, voters, threads);
    } else {
        voting = nearest.first(voters);
    }
    std::vector<std::uint8_t> labels;
    for (const Vote& vote :
         votes(voting, training_.labels, method_.vote, method_.neighbor_measure(), threads))
        labels.push_back(vote.label);
    return labels;
}

}  // namespace knn
