#include "app/commands/digits.h"

#include <array>

#include "app/commands/loaded_set.h"
#include "app/console/interrupt.h"
#include "app/console/notes.h"
#include "app/console/watched.h"
#include "classifier/sizes.h"
#include "cpu/transform/transform.h"
#include "data/core/errors.h"

namespace knn {

namespace {

/// Up to here a CPU has answered before a GPU has started: 0.3 s for a CUDA context, 0.1 s for 1,000 digits
/// on two cores.
constexpr std::int64_t few_digits = 1000;

/// Of more training images a fit takes seconds.
constexpr std::int64_t few_images = 10'000;

/// What is fitted to the training set comes from the cache, or is fitted on the CPU and kept there.
void fit(LoadedTraining& training, const Options& options, int threads) {
    const Method& method = options.method;
    Training& used = training.used;
    const TrainingIdentity identity{options.no_cache ? "" : training.set.key, training.set.name};
    const FittedCache cache(identity, method, used.rows.count, threads);
    const Watch watch = stoppable();
    const auto fitted = [&]() -> Classifier& {
        if (training.fitted == nullptr) {
            if (method.reranks() && training.kept == nullptr && used.rows.count > few_images)
                note("fitting the re-ranking to the training set" +
                         std::string(identity.key.empty() ? "" : ", once unless it changes"),
                     options.output);
            const Problem problem = method.problem(used, spread_sample(used.rows.count).m);
            training.fitted =
                std::make_unique<Classifier>(used, method, resolve_on_cpu(problem, threads), watch);
        }
        return *training.fitted;
    };
    if (method.reranks()) {
        training.kept = cache.reranking_of_few();
        if (training.kept == nullptr) cache.keep(*fitted().training().reranking, false);
        used.reranking = training.kept ? &training.kept->reranking : training.fitted->training().reranking;
    }
    if (auto sample = cache.sample()) {
        training.sample = std::move(*sample);
        return;
    }
    if (used.rows.count < min_sampled_images || method.vote.k >= used.rows.count) return;
    const ComparedRows compared = compared_rows(used);
    training.sample = leave_one_out(fitted(), &compared, watch);
    cache.keep(training.sample);
}

/// The votes of one digit by label.
std::vector<std::pair<int, int>> votes_by_label(std::span<const Neighbor> neighbors,
                                                std::span<const std::uint8_t> labels) {
    std::array<int, 256> counts = {};
    for (const Neighbor& neighbor : neighbors)
        ++counts[labels[neighbor.index]];
    std::vector<std::pair<int, int>> votes;
    for (int label = 0; label < 256; ++label)
        if (const int count = counts[static_cast<std::size_t>(label)]; count > 0)
            votes.emplace_back(label, count);
    return votes;
}

}  // namespace

LoadedTraining load_training(const DataLocation& location, const Options& options, int threads) {
    const bool use_cache = !options.no_cache;
    LoadedTraining training;
    training.set = knn::load_training(location, use_cache, threads);
    const TrainingSet& set = training.set;
    if (set.rows != DigitImage::side || set.cols != DigitImage::side)
        throw DataError(set.source + ": has images of " + std::to_string(set.rows) + "x" +
                        std::to_string(set.cols) +
                        "; expected 28x28 pixels, as pictures are scaled to these");
    Training& used = training.used;
    used = first_images(set.images, set.labels, {set.rows, set.cols}, options.first.train);
    const TransformSpec& transform = options.method.transform;
    training.features = std::make_unique<Features>(
        load_features(set, used.rows, transform, use_cache, threads, &stop_flag()));
    if (!transform.is_raw()) {
        used.transform = &training.features->transform;
        used.features = training.features->rows;
    }
    fit(training, options, threads);
    return training;
}

Resolved resolve_for_digits(const LoadedTraining& training, const Options& options, std::int64_t n_query) {
    Wish wish = options.wish;
    if (!wish.chooses() && n_query <= few_digits) wish.device.kind = DeviceKind::cpu;
    return Planner(wish).resolve(options.method.problem(training.used, n_query));
}

Judge::Judge(const LoadedTraining& training, std::optional<double> loss)
    : compared_(compared_rows(training.used)),
      transform_(training.used.transform),
      loss_(loss),
      confidence_(training.sample),
      rejection_(training.sample) {}

void Judge::judge(Answer& digit, const Classified& found, std::int64_t query) const {
    const auto at = static_cast<std::size_t>(query);
    const Vote& vote = found.votes[at];
    const Evidence& evidence = found.evidence[at];
    const double unlike =
        unlikeness(features_of(digit.image.pixels).data(), compared_, found.voters(query), vote.label);
    // No digit was seen in the picture, so a forced answer is not right.
    digit.confidence = digit.image.refused.empty() ? confidence_.probability(evidence) : 0;
    digit.vote_share = vote.confidence;
    digit.usual = rejection_.usual(evidence, unlike);
    if (loss_) digit.reason = rejection_.reason(evidence, unlike, *loss_);
    (digit.reason.empty() ? digit.label : digit.guess) = vote.label;
}

std::vector<std::uint8_t> Judge::features_of(const DigitImage::Pixels& pixels) const {
    if (transform_ == nullptr) return {pixels.begin(), pixels.end()};
    return cpu::features(*transform_, {pixels.data(), 1, std::ssize(pixels)}, 1);
}

std::vector<DigitImage*> images_of(std::span<Answer* const> digits) {
    std::vector<DigitImage*> images;
    for (Answer* digit : digits)
        images.push_back(&digit->image);
    return images;
}

Classified answer_digits(std::span<Answer* const> digits, Classifier& classifier, const Judge& judge,
                         const Watch& watch) {
    const std::vector<DigitImage*> images = images_of(digits);
    const std::vector<std::uint8_t> rows = rows_to_search(images);
    const Training& training = classifier.training();
    const std::int64_t dim = training.rows.dim;
    Classified found = classifier.classify({rows.data(), std::ssize(rows) / dim, dim}, watch);
    const std::vector<std::int64_t> chosen =
        choose_sizes(images, classifier.method().neighbor_measure(), found.neighbors);
    for (std::size_t i = 0; i < digits.size(); ++i) {
        Answer& digit = *digits[i];
        const auto neighbors = found.neighbors.row(chosen[i]);
        digit.neighbors.assign(neighbors.begin(), neighbors.end());
        digit.votes = votes_by_label(neighbors, training.labels);
        judge.judge(digit, found, chosen[i]);
    }
    return found;
}

}  // namespace knn
