#include "app/bench/plan.h"
#include "app/cli/option_kinds.h"
#include "app/cli/options.h"

namespace knn {

OptionGroup bench_group(Options& options) {
    OptionGroup group{"What is measured", {}};
    BenchOptions& bench = options.bench;
    std::vector<std::string> names;
    for (const BenchCase& one : bench_cases())
        names.emplace_back(one.name);
    const auto which = [&bench, names](const std::string& given) {
        bench.which = names[parse_name("--case", given, names)];
    };
    const std::string which_help =
        "an experiment; those of papers show their figures next to ours: " + one_of(names);
    constexpr std::int64_t max_runs = 100'000;
    group.list.add_options()  //
        ("case", value("NAME", which), which_help.c_str())(
            "only", value("NAME,...", [&bench](const std::string& given) { bench.only = parse_only(given); }),
            "only the rows of these names: distance kernels, selectors, engines, serial")(
            "repeat", number("--repeat", bench.repeat, 1, max_runs), "runs of each (default 10)")(
            "seconds",
            value("N",
                  [&bench](const std::string& given) {
                      bench.seconds = parse_number("--seconds", given, 0.001, 86'400, "seconds");
                  }),
            "approximate time limit for the runs of one row (default 5): if it is too short, there are fewer "
            "runs, then fewer queries, and the table says how many")(
            "n-train", number("--n-train", bench.n_train, 1, unlimited), "training images: the first N")(
            "n-query", number("--n-query", bench.n_query, 1, unlimited), "test images: the first N")(
            "dim", number("--dim", bench.dim, 1, max_dim), "pixels: random images instead of a data set");
    return group;
}

OptionGroup bench_output_group(Options& options) {
    OptionGroup group{"Output", {}};
    BenchOptions& bench = options.bench;
    group.list.add_options()  //
        ("json", text("--json", "FILE", bench.json), "machine-readable report; - is standard output")(
            "csv", text("--csv", "FILE", bench.csv), "one line per measurement; - is standard output")(
            "plot", picture("--plot", bench.plot, {".svg"}), "a picture, an SVG")(
            "quiet,q", po::bool_switch(&options.output.quiet), "no bar");
    add_terminal_options(group, options.output, false);
    return group;
}

}  // namespace knn
