#include "app/commands/digits.h"

#include <map>

#include "app/console/interrupt.h"
#include "app/console/terminal.h"
#include "classifier/host.h"
#include "data/core/errors.h"
#include "data/set/training.h"

namespace knn {

namespace {

/// Up to here a CPU has answered before a GPU has started: 0.3 s for a CUDA context, 0.1 s for 1,000 digits
/// on two cores.
constexpr std::int64_t few_digits = 1000;

/// Of more training images a fit takes seconds.
constexpr std::int64_t few_images = 10'000;

/// What is fitted to the training set comes from the cache, or is fitted on the CPU and kept there.
LeaveOneOut fit(const TrainingSet& set, const Options& options, int threads) {
    const Method& method = options.method;
    if (auto kept = find_sample(set, method); kept && is_fitted(set, method)) return std::move(*kept);
    const bool samples = set.size() >= min_sampled_images && method.vote.k < set.size();
    if (!samples && is_fitted(set, method)) return {};
    if (!is_fitted(set, method) && set.size() > few_images)
        note("fitting the re-ranking to the training set" +
                 std::string(set.is_cached() ? ", once unless it changes" : ""),
             options.output);
    const Problem problem = method.problem(set.view(), std::ssize(strided_sample(set.size())));
    return fitted_sample(Index(set, method, resolve_on_cpu(problem, threads), stoppable()), stoppable());
}

Resolved resolve_for_digits(const TrainingSet& set, const Options& options, std::int64_t n_query) {
    PlanRequest request = options.request;
    if (!request.chooses() && n_query <= few_digits) request.device.kind = DeviceKind::cpu;
    Resolved resolved = Planner(request).resolve(options.method.problem(set.view(), n_query));
    note(resolved.notice, options.output);
    return resolved;
}

}  // namespace

LoadedTraining load_for_digits(const DataLocation& location, const Options& options, int threads) {
    const TrainingImages read = load_training(location, !options.no_cache, threads, options.first.train);
    const ImageShape shape = read.shape;
    const Training all{read.images, read.labels, shape};
    LoadedTraining training{TrainingSet(first_images(all.rows, all.labels, shape, options.first.train),
                                        read.identity, read.owner),
                            read.source, all};
    if (shape.rows != DigitImage::side || shape.cols != DigitImage::side)
        throw DataError(training.source + ": has images of " + std::to_string(shape.rows) + "x" +
                        std::to_string(shape.cols) +
                        "; expected 28x28 pixels, as pictures are scaled to these");
    // What an earlier run has fitted is read while the pictures are; what is missing waits until there is a digit.
    if (find_sample(training.set, options.method) && is_fitted(training.set, options.method))
        fit_for_digits(training, options, threads);
    return training;
}

void fit_for_digits(LoadedTraining& training, const Options& options, int threads) {
    Timeline timeline;
    training.set.features(options.method.transform, threads, &stop_flag(), timeline);
    training.sample = fit(training.set, options, threads);
}

void check_for_digits(const LoadedTraining& training, const Options& options) {
    resolve_for_digits(training.set, options, 1);
}

DigitSearch::DigitSearch(const LoadedTraining& training, const Options& options, std::int64_t n_query)
    : index_(training.set, options.method, resolve_for_digits(training.set, options, n_query)),
      compared_(compared_rows(index_)),
      loss_(options.classify.reject),
      confidence_(training.sample),
      rejection_(training.sample) {}

void DigitSearch::score(Answer& digit, const Results& found, std::int64_t query) const {
    const auto at = static_cast<std::size_t>(query);
    const Vote& vote = found.votes[at];
    const ConfidenceFeatures& confidence_features = found.confidence_features[at];
    const auto& pixels = digit.image.pixels;
    const bool has_features = found.features.count() > 0;
    std::vector<std::uint8_t> made;
    if (const FittedTransform* transform = index_.training().transform; !has_features && transform != nullptr)
        made = features(*transform, {pixels.data(), 1, std::ssize(pixels)}, 1);
    const std::uint8_t* row = has_features   ? found.features.rows.row(query)
                              : made.empty() ? pixels.data()
                                             : made.data();
    const double unlike = novelty_score(row, compared_, found.voters(query), vote.label);
    // No digit was seen in the picture, so a forced answer is not right.
    digit.confidence = digit.image.refused.empty() ? confidence_.probability(confidence_features) : 0;
    digit.vote_share = vote.vote_share;
    digit.p_value = rejection_.p_value(confidence_features, unlike);
    if (loss_) digit.reason = rejection_.reason(confidence_features, unlike, *loss_);
    (digit.reason.empty() ? digit.label : digit.guess) = vote.label;
}

Results DigitSearch::answer(std::span<Answer* const> digits, const ProgressToken& token) const {
    std::vector<DigitImage*> images;
    for (Answer* digit : digits)
        images.push_back(&digit->image);
    const std::vector<std::uint8_t> rows = rows_to_search(images);
    const Training& training = index_.training();
    const std::int64_t dim = training.rows.dim;
    Results found = index_.search(Rows{rows.data(), std::ssize(rows) / dim, dim},
                                  {.keep_features = true, .token = token});
    const std::vector<std::int64_t> chosen =
        choose_sizes(images, index_.method().neighbor_measure(), found.neighbors);
    for (std::size_t i = 0; i < digits.size(); ++i) {
        Answer& digit = *digits[i];
        const auto neighbors = found.neighbors.row(chosen[i]);
        digit.neighbors.assign(neighbors.begin(), neighbors.end());
        std::map<int, int> votes;  // by label
        for (const Neighbor& neighbor : neighbors)
            ++votes[training.labels[neighbor.index]];
        digit.votes.assign(votes.begin(), votes.end());
        score(digit, found, chosen[i]);
    }
    found.features = {};  // its rows may be those above
    return found;
}

}  // namespace knn
