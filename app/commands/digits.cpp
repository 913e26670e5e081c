#include "app/commands/digits.h"

#include "app/console/console.h"
#include "classifier/host.h"
#include "data/core/errors.h"
#include "data/set/training.h"
#include "data/vectors/sets.h"

namespace knn {

namespace {

/// Up to here a CPU has answered before a GPU has started: 0.3 s for a CUDA context, 0.1 s for 1,000 digits
/// on two cores.
constexpr std::int64_t few_digits = 1000;

/// Of more training images a fit takes seconds.
constexpr std::int64_t few_images = 10'000;

bool is_all_fitted(const LoadedTraining& training, const Method& method) {
    return is_fitted(training.set, method) &&
           (!training.drawn || ExtraRows::are_fitted(*training.drawn, method));
}

/// What is fitted to the training set comes from the cache, or is fitted on the CPU and kept there.
LeaveOneOut fit(const LoadedTraining& training, const Options& options, int threads) {
    const TrainingSet& set = training.set;
    const Method& method = options.method;
    const bool is_all = is_all_fitted(training, method);
    if (auto kept = find_sample(set, method, training.drawn.has_value()); kept && is_all)
        return std::move(*kept);
    const bool samples = set.size() >= min_sampled_images && method.vote.k < set.size();
    if (!samples && is_all) return {};
    if (!is_fitted(set, method) && set.size() > few_images)
        note("fitting the re-ranking to the training set" +
                 std::string(set.is_cached() ? ", once unless it changes" : ""),
             options.output);
    const Problem problem = method.problem(set.view(), std::ssize(strided_sample(set.size())));
    const Index index(set, method, resolve_on_cpu(problem, threads), stoppable());
    const auto extra =
        training.drawn ? std::make_unique<ExtraRows>(index, *training.drawn, stoppable()) : nullptr;
    return fitted_sample(index, stoppable(), extra.get());
}

Resolved resolve_for_digits(const TrainingSet& set, const Options& options, std::int64_t n_query) {
    PlanRequest request = options.request;
    if (!request.chooses() && n_query <= few_digits) request.device.kind = DeviceKind::cpu;
    Resolved resolved = Planner(request).resolve(options.method.problem(set.view(), n_query));
    note(resolved.notice, options.output);
    return resolved;
}

/// The training set; that of --train is in no cache.
TrainingImages read_training(const DataLocation& location, const Options& options, int threads) {
    if (!location.vectors) return load_training(location, !options.no_cache, threads, options.first.train);
    const auto loaded = std::make_shared<const Dataset>(load_training_data(
        location, {.first = options.first, .threads = threads, .free_bytes = available_bytes()}));
    if (!loaded->are_images() || !loaded->classes.empty())
        throw DataError(loaded->are_images() ? location.files[0].string() +
                                                   ": its labels have names; expected numbers, as digits have"
                                             : not_images(*loaded));
    TrainingImages set;
    set.source = location.files[0].string();
    set.owner = loaded;
    set.images = loaded->train.images();
    set.labels = loaded->train.labels.span();
    set.shape = loaded->train.shape();
    return set;
}

}  // namespace

LoadedTraining load_for_digits(const DataLocation& location, const Options& options, int threads) {
    const TrainingImages read = read_training(location, options, threads);
    const ImageShape shape = read.shape;
    const Training all{read.images, read.labels, shape};
    LoadedTraining training{
        TrainingSet(first_images(all.rows, all.labels, shape, location.limit(options.first.train)),
                    read.identity, read.owner),
        read.source, all};
    if (shape.rows != DigitImage::side || shape.cols != DigitImage::side)
        throw DataError(training.source + ": has images of " + std::to_string(shape.rows) + "x" +
                        std::to_string(shape.cols) +
                        "; expected 28x28 pixels, as pictures are scaled to these");
    if (options.first.train == 0 && ExtraRows::suit(options.method) && is_mnist(read.labels)) {
        const TrainingImages drawn = load_drawn_rows(!options.no_cache, threads);
        const auto set_of = [](const TrainingImages& rows) {
            return TrainingSet(Training{rows.images, rows.labels, rows.shape}, rows.identity, rows.owner);
        };
        training.drawn = set_of(drawn);
        if (!location.no_digits.empty()) training.taught = set_of(with_no_digits(drawn, location.no_digits));
    } else if (!location.no_digits.empty()) {
        note("--extra: its pictures of no digit are left out; they need all of MNIST and --method accurate",
             options.output);
    }
    // What an earlier run has fitted is read while the pictures are; what is missing waits until there is a digit.
    if (find_sample(training.set, options.method, training.drawn.has_value()) &&
        is_all_fitted(training, options.method))
        fit_for_digits(training, options, threads);
    return training;
}

void fit_for_digits(LoadedTraining& training, const Options& options, int threads) {
    Timeline timeline;
    training.set.features(options.method.transform, threads, &stop_flag(), timeline);
    training.sample = fit(training, options, threads);
}

void check_for_digits(const LoadedTraining& training, const Options& options) {
    resolve_for_digits(training.set, options, 1);
}

DigitSearch::DigitSearch(const LoadedTraining& training, const Options& options, std::int64_t n_query)
    : index_(training.set, options.method, resolve_for_digits(training.set, options, n_query)),
      extra_(training.drawn ? std::make_unique<ExtraRows>(
                                  index_, training.taught ? *training.taught : *training.drawn, stoppable())
                            : nullptr),
      sample_(training.sample),
      scorer_(index_, training.sample, extra_.get()),
      loss_(options.classify.reject) {}

Results DigitSearch::answer(std::span<Answer* const> digits, const ProgressToken& token) const {
    return answer_digits(index_, scorer_, loss_, digits, token);
}

void DigitSearch::choose(std::span<PictureAnswer> pictures, const ProgressToken& token) const {
    choose_answers(pictures, index_, scorer_, sample_, token);
}

}  // namespace knn
