#include "classifier/leave_one_out.h"

#include <algorithm>

#include "classifier/mean_distance.h"
#include "cpu/search.h"
#include "cpu/threads.h"

namespace knn {

namespace {

constexpr std::int64_t max_sampled_images = 4999;
constexpr std::int64_t images_per_piece = 16;

void add_unlikeness(LeaveOneOut& answers, Exclude sample, const Classified& found,
                    const ComparedRows& compared, const Watch& watch) {
    cpu::Team team(cpu::available_threads(), watch, sample.m, 1);
    team.run_pieces(sample.m, images_per_piece, [&](int, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            const auto at = static_cast<std::size_t>(i);
            answers[at].unlikeness = unlikeness(compared.rows.row(sample.index_of(i)), compared,
                                                found.voters(i), found.votes[at].label);
        }
    });
}

}  // namespace

Exclude spread_sample(std::int64_t n_train) {
    return {.first = 0, .n = n_train, .m = std::min(max_sampled_images, n_train)};
}

std::vector<std::uint8_t> sampled_images(const Rows& train, Exclude sample) {
    std::vector<std::uint8_t> images;
    images.reserve(static_cast<std::size_t>(sample.m * train.dim));
    for (std::int64_t i = 0; i < sample.m; ++i) {
        const std::uint8_t* image = train.row(sample.index_of(i));
        images.insert(images.end(), image, image + train.dim);
    }
    return images;
}

ComparedRows compared_rows(const Classifier& classifier) {
    const Training& used = classifier.training();
    Timeline timeline;
    ComparedRows compared{classifier.set().features(classifier.method().transform, 0, nullptr, timeline).rows,
                          grid_of(used.transform, used.shape),
                          used.labels,
                          {}};
    if (used.reranking != nullptr) compared.density = used.reranking->density;
    return compared;
}

LeaveOneOut leave_one_out(Classifier& classifier, const ComparedRows* compared, const Watch& watch) {
    const Training& training = classifier.training();
    const Method& method = classifier.method();
    const Rows& train = training.rows;
    if (train.count < min_sampled_images || method.vote.k >= train.count) return {};
    const Exclude sample = spread_sample(train.count);
    const std::vector<std::uint8_t> images = sampled_images(train, sample);
    const Classified found = classifier.classify({images.data(), sample.m, train.dim}, watch, sample);
    LeaveOneOut answers;
    for (std::int64_t i = 0; i < sample.m; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const auto neighbors = found.neighbors.row(i);
        const std::uint8_t truth = training.labels[static_cast<std::size_t>(sample.index_of(i))];
        answers.push_back({.evidence = found.evidence[at],
                           .unlikeness = 0,
                           .distance = mean_distance(neighbors, method.neighbor_measure()),
                           .nearest_label = training.labels[neighbors.front().index],
                           .right = std::uint32_t{found.votes[at].label == truth}});
    }
    if (compared != nullptr) add_unlikeness(answers, sample, found, *compared, watch);
    return answers;
}

std::optional<LeaveOneOut> find_sample(const TrainingSet& set, const Method& method) {
    const auto kept = set.find<SampledAnswer>(Fitted::sample, method, spread_sample(set.size()).m);
    if (kept.empty()) return std::nullopt;
    return LeaveOneOut(kept.begin(), kept.end());
}

LeaveOneOut fitted_sample(Classifier& classifier, const Watch& watch) {
    if (auto kept = find_sample(classifier.set(), classifier.method())) return std::move(*kept);
    const ComparedRows compared = compared_rows(classifier);
    LeaveOneOut sample = leave_one_out(classifier, &compared, watch);
    classifier.set().keep<SampledAnswer>(Fitted::sample, classifier.method(), sample);
    return sample;
}

}  // namespace knn
