#include "app/commands/command.h"
#include "app/report/outputs.h"
#include "app/workbench.h"

namespace knn {

int evaluate(const Options& options, Clock::time_point start) {
    check_outputs(options.output);
    Chooser chooser(options.search);
    const Workbench bench(chooser, locate(options.data), options);
    Evaluation evaluation = evaluation_of(bench);
    evaluation.wall_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    write_outputs(evaluation, options.output);
    return 0;
}

}  // namespace knn
