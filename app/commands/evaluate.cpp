#include "classifier/evaluation.h"

#include "app/cli/command_line.h"
#include "app/commands/evaluated.h"
#include "app/commands/ranks.h"

namespace knn {

int evaluate(const Options& options, Clock::time_point start) {
    LoadedSet set(options, Needed::both);
    const Resolved resolved = set.resolve(options.method, set.queries().count);
    // Under mpirun, where main.cpp joined the ranks, all have the same data.
    agree_on({set.training().images(), set.queries()}, set.training().labels());
    const auto index = open_index(set.training(), options.method, resolved, options.output);
    Evaluation evaluation = with_progress(options.output, "searching", [&](const ProgressToken& token) {
        return classify_and_score(*index, set.data(), set.queries().count, token);
    });
    evaluation.load_ms = set.load_ms();
    evaluation.wall_ms = ms_since(start);
    write_outputs(evaluation, options.output);
    return 0;
}

}  // namespace knn
