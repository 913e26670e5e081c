#include "app/commands/command.h"
#include "app/commands/workbench.h"
#include "app/report/outputs.h"

namespace knn {

int evaluate(const Options& options, Clock::time_point start) {
    const Destinations outputs = destinations(options.output);
    Chooser chooser(options.search);
    const DataLocation location = locate(options.data);
    outputs.check(location.files());
    const Workbench bench(chooser, location, options);
    Evaluation evaluation = evaluation_of(bench);
    evaluation.wall_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    write_outputs(evaluation, options.output);
    return 0;
}

}  // namespace knn
