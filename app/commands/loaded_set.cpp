#include "app/commands/loaded_set.h"

#include "app/console/interrupt.h"
#include "app/console/notes.h"
#include "app/console/watched.h"
#include "cpu/search.h"
#include "data/core/clock.h"

namespace knn {

LoadedSet::LoadedSet(Planner& planner, const DataLocation& location, const Options& options) {
    // Another thread creates the CUDA context while the files are read.
    memory_ = host_memory(planner.likely_engine(), planner.likely_device());
    const auto start = Clock::now();
    // Ranks search together: none may find in the cache what another has to fit.
    const bool use_cache = !options.no_cache && options.wish.ranks == nullptr;
    TrainingIdentity identity = use_cache ? identity_of(location) : TrainingIdentity();
    data_ = load(location, memory_->resource());
    // What changed while it was read belongs to no key.
    if (use_cache && identity_of(location).key != identity.key) identity.key.clear();
    training_ = first_images(data_.train.images(), data_.train.labels.span(), data_.train.shape(),
                             options.first.train);
    cache_ = FittedCache(identity, options.method, training_.rows.count, cpu::available_threads());
    const Rows test = data_.test.images();
    queries_ = test.first(options.first.test > 0 ? options.first.test : test.count);
    resolved_ = planner.resolve(options.method.problem(training_, queries_.count));
    if (resolved_.engine->on_gpu) memory_->pin();
    stop_if_asked();
    load_ms_ = ms_since(start);
    note(data_notice(location));
    note(resolved_.notice);
}

std::unique_ptr<Classifier> LoadedSet::open(const Options& options) {
    const Method& method = options.method;
    if (!method.reranks()) return std::make_unique<Classifier>(training_, method, resolved_, stoppable());
    const auto start = Clock::now();
    Training training = training_;
    // A GPU makes descriptors faster than they are read.
    kept_ = resolved_.engine->on_gpu ? cache_.reranking_of_few() : cache_.reranking(training_);
    load_ms_ += ms_since(start);
    if (kept_ != nullptr) {
        training.reranking = &kept_->reranking;
        return std::make_unique<Classifier>(training, method, resolved_);
    }
    auto classifier = watched(options.output, "fitting  ", [&](const Watch& watch) {
        return std::make_unique<Classifier>(training, method, resolved_, watch);
    });
    cache_.keep(*classifier->training().reranking, true);
    return classifier;
}

Training first_images(const Rows& images, std::span<const std::uint8_t> labels, ImageShape shape,
                      std::int64_t n) {
    const Rows rows = images.first(n > 0 ? n : images.count);
    return {rows, labels.first(static_cast<std::size_t>(rows.count)), shape};
}

}  // namespace knn
