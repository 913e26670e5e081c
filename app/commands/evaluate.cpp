#include "classifier/evaluation.h"

#include "app/cli/command.h"
#include "app/commands/loading.h"
#include "app/commands/outputs.h"
#include "app/commands/ranks.h"
#include "app/console/watched.h"

namespace knn {

int evaluate(const Options& options, Clock::time_point start) {
    const Destinations outputs(options);
    Planner planner(options.wish);  // looks for GPUs in the background
    const ImagesLocation location = locate_images(options, Needed::both);
    outputs.check(inputs_of(options, location.files()));

    LoadedSet set(planner, location, options);
    const Resolved resolved = set.resolve(planner, options.method, set.queries().count);
    // Under mpirun, where main.cpp joined the ranks, all have the same data.
    agree_on({set.training().images(), set.queries()}, set.training().labels());
    const auto index = open_index(set.training(), options.method, resolved, options.output);
    Evaluation evaluation = watched(options.output, "searching", [&](const Watch& watch) {
        return classify_and_score(*index, set.data(), set.queries().count, watch);
    });
    evaluation.load_ms = set.load_ms();
    evaluation.wall_ms = ms_since(start);
    write_outputs(evaluation, options.output);
    return 0;
}

}  // namespace knn
