#include "classifier/evaluation.h"

#include <algorithm>
#include <numeric>

#include "classifier/leave_one_out.h"
#include "classifier/vote.h"
#include "data/core/clock.h"
#include "data/core/format.h"

namespace knn {

Evaluation evaluate(const Index& index, const Dataset& data, std::int64_t n_test, const Watch& watch) {
    Evaluation evaluation;
    evaluation.data = &data;
    evaluation.n_train = index.training().rows.count;
    evaluation.n_test = n_test;
    evaluation.created = utc_now();
    evaluation.method = index.method();
    Results& found = evaluation.found;
    found = index.search(data.test.images().first(n_test), {.watch = watch});
    Timeline whole = index.opening();
    whole.add(found.timeline);
    found.timeline = std::move(whole);
    found.search_ms += index.open_ms();
    const auto truth = data.test.labels.span().first(static_cast<std::size_t>(n_test));
    evaluation.score = score(found.votes, truth, data.labels);
    add_confidence(evaluation, index, watch);
    return evaluation;
}

void add_confidence(Evaluation& evaluation, const Index& index, const Watch& watch) {
    const auto start = Clock::now();
    const Confidence confidence = fitted_confidence(index, watch);
    evaluation.calibrated = confidence.fitted();
    evaluation.confidence = confidence.probabilities(evaluation.found.evidence);
    evaluation.found.timeline.add(
        {.name = "confidence", .launches = 1, .total_ms = ms_since(start), .kind = StageKind::host});
}

std::vector<std::uint8_t> right_answers(const Evaluation& evaluation) {
    const std::uint8_t* truth = evaluation.data->test.labels.data();
    std::vector<std::uint8_t> right;
    for (const Vote& vote : evaluation.found.votes)
        right.push_back(vote.label == *truth++);
    return right;
}

std::vector<VoteShare> vote_shares(const Evaluation& evaluation, std::int64_t image) {
    const auto sums = class_sums(evaluation.found.neighbors.row(image), evaluation.data->train.labels.span(),
                                 evaluation.method.vote.weights, evaluation.method.neighbor_measure());
    const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
    std::vector<VoteShare> shares;
    for (int label = 0; label < 256; ++label)
        if (const double sum = sums[static_cast<std::size_t>(label)]; sum > 0)
            shares.push_back({label, sum / total});
    std::stable_sort(shares.begin(), shares.end(),
                     [](const VoteShare& a, const VoteShare& b) { return a.share > b.share; });
    return shares;
}

}  // namespace knn
