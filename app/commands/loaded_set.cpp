#include "app/commands/loaded_set.h"

#include "app/console/interrupt.h"
#include "app/console/notes.h"
#include "data/core/clock.h"

namespace knn {

LoadedSet::LoadedSet(Planner& planner, const DataLocation& location, const Options& options) {
    // Another thread creates the CUDA context while the files are read.
    memory_ = host_memory(planner.likely_engine(), planner.likely_device());
    const auto start = Clock::now();
    data_ = load(location, memory_->resource());
    training_ = first_images(data_.train.images(), data_.train.labels.span(), data_.train.shape(),
                             options.first.train);
    const Rows test = data_.test.images();
    queries_ = test.first(options.first.test > 0 ? options.first.test : test.count);
    resolved_ = planner.resolve(options.method.problem(training_, queries_.count));
    if (resolved_.engine->on_gpu) memory_->pin();
    stop_if_asked();
    load_ms_ = ms_since(start);
    note(data_notice(location));
    note(resolved_.notice);
}

Training first_images(const Rows& images, std::span<const std::uint8_t> labels, ImageShape shape,
                      std::int64_t n) {
    const Rows rows = images.first(n > 0 ? n : images.count);
    return {rows, labels.first(static_cast<std::size_t>(rows.count)), shape};
}

}  // namespace knn
