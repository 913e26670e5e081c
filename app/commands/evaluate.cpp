#include "classifier/evaluation.h"

#include "app/cli/command.h"
#include "app/commands/loaded_set.h"
#include "app/commands/outputs.h"
#include "app/commands/ranks.h"
#include "app/console/watched.h"

namespace knn {

int evaluate(const Options& options, Clock::time_point start) {
    const Destinations outputs(options);
    Planner planner(options.wish);  // looks for GPUs in the background
    const DataLocation location = locate(options.data);
    outputs.check(inputs_of(options, location.files()));

    LoadedSet set(planner, location, options);
    agree_on({set.training().rows, set.queries()}, set.training().labels);
    const std::unique_ptr<Classifier> classifier = set.open(options);
    Evaluation evaluation = watched(options.output, "searching", [&](const Watch& watch) {
        return evaluate(*classifier, set.data(), set.queries().count, watch, set.cache());
    });
    evaluation.load_ms = set.load_ms();
    evaluation.wall_ms = ms_since(start);
    write_outputs(evaluation, options.output);
    return 0;
}

}  // namespace knn
