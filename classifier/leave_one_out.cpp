#include "classifier/leave_one_out.h"

#include <algorithm>

#include "classifier/host.h"
#include "classifier/vote.h"
#include "data/core/round_up.h"

namespace knn {

namespace {

constexpr std::int64_t max_sampled_images = 4999;
constexpr std::int64_t images_per_piece = 16;

}  // namespace

std::vector<std::uint32_t> strided_sample(std::int64_t n_train) {
    const std::int64_t m = std::min(max_sampled_images, n_train);
    std::vector<std::uint32_t> images;
    for (std::int64_t i = 0; i < m; ++i)
        images.push_back(static_cast<std::uint32_t>(i * n_train / m));
    return images;
}

ComparedRows compared_rows(const Index& index) {
    const Training& used = index.training();
    Timeline timeline;
    return {index.set().features(index.method().transform, 0, nullptr, timeline).rows,
            grid_of(used.transform, used.shape), used.labels, index.reranking().density};
}

LeaveOneOut leave_one_out(const Index& index, const ComparedRows* compared, const ProgressToken& token) {
    const Training& training = index.training();
    const Method& method = index.method();
    const std::int64_t n = training.rows.count;
    if (n < min_sampled_images || method.vote.k >= n) return {};
    const std::vector<std::uint32_t> sample = strided_sample(n);
    const Results found = index.search(Queries::some_of(training.rows, sample), {.token = token});
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
    for_rows(std::ssize(sample), images_per_piece, available_threads(), token.stop,
             [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t q = first; q < last; ++q)
                     answer(q);
             });
    return answers;
}

std::optional<LeaveOneOut> find_sample(const TrainingSet& set, const Method& method) {
    const std::int64_t n = std::min(max_sampled_images, set.size());
    const auto kept = set.find<SampledAnswer>(Fitted::sample, method, n);
    if (kept.empty()) return std::nullopt;
    return LeaveOneOut(kept.begin(), kept.end());
}

LeaveOneOut fitted_sample(const Index& index, const ProgressToken& token) {
    if (auto kept = find_sample(index.set(), index.method())) return std::move(*kept);
    const ComparedRows compared = compared_rows(index);
    LeaveOneOut sample = leave_one_out(index, &compared, token);
    index.set().keep<SampledAnswer>(Fitted::sample, index.method(), sample);
    return sample;
}

}  // namespace knn
