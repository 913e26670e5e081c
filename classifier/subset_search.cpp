#include "classifier/subset_search.h"

#include <algorithm>
#include <numeric>

#include "data/core/errors.h"
#include "data/core/format.h"

namespace knn {

Indices all_indices(std::int64_t n) {
    Indices all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

LabeledImages copied(const Training& training, std::span<const std::uint32_t> images) {
    const auto dim = static_cast<std::size_t>(training.rows.dim);
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
        throw UsageError("§k " + std::to_string(k) + ": each of " + with_commas(n) +
                         " images has fewer others; expected at most " + std::to_string(n - 1));
}

SubsetSearch::SubsetSearch(const TrainingSet& set, const Method& method, const Resolved& resolved,
                           const ProgressToken& token)
    : resolved_(resolved), index_(set, method, resolved, token.quiet()) {
    Timeline timeline;
    features_ =
        set.features(method.transform, resolved.engine->on_gpu ? 0 : resolved.plan.threads, nullptr, timeline)
            .rows;
}

int SubsetSearch::depth(std::int64_t n) const {
    const int voters = method().voters(n);
    return method().reranks() ? index_.reranking().candidates(voters, n, false) : voters;
}

Neighbors SubsetSearch::nearest(std::span<const std::uint32_t> queries, std::span<const std::uint32_t> among,
                                int k, const ProgressToken& token, bool leave_out) const {
    const std::vector<std::uint8_t> train = gathered(features_, among);
    const Rows rows{train.data(), std::ssize(among), features_.dim};
    std::vector<std::uint8_t> others;
    Queries wanted = rows;
    wanted.is_training_set = std::ranges::equal(queries, among);
    if (leave_out) {
        Indices places;
        for (const std::uint32_t query : queries)
            places.push_back(
                static_cast<std::uint32_t>(std::ranges::lower_bound(among, query) - among.begin()));
        wanted = Queries::some_of(rows, std::move(places));
    } else if (!wanted.is_training_set) {
        others = gathered(features_, queries);
        wanted.rows = {others.data(), std::ssize(queries), features_.dim};
    }
    Timeline timeline;
    const auto index = resolved_.engine->open({rows, {}}, method().measure, resolved_.plan, timeline);
    Neighbors found = nearest_of(*index, wanted, k, timeline, token);
    for (Neighbor& neighbor : found.rows)
        neighbor.index = among[neighbor.index];
    return found;
}

}  // namespace knn
