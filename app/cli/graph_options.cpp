#include <algorithm>

#include "app/cli/option_kinds.h"
#include "app/cli/options.h"
#include "data/core/errors.h"
#include "data/core/problem.h"

namespace knn {

OptionGroup points_group(Options& options) {
    OptionGroup all = training_group(options), group{"Images", {}};
    group.list.add_options()("images", text("--images", "FILE", options.graph.images),
                             "images without labels instead of a data set: an IDX file, or a folder of "
                             "pictures that all have one size");
    for (const auto& option : all.list.options())
        group.list.add(option);
    return group;
}

OptionGroup graph_search_group(Options& options) {
    OptionGroup group{"Search", {}};
    group.list.add_options()(",k", number("-k", options.method.vote.k, 1, max_k),
                             "neighbors of each image, 1 to 1024 (default 10)");
    add_search_options(group, options, {"", "rerank", "candidates", "vote", "weights", "tie", "limit-test"});
    return group;
}

OptionGroup graph_output_group(Options& options) {
    OptionGroup group{"Output", {}};
    GraphOptions& graph = options.graph;
    group.list.add_options()  //
        ("form", choice("--form", "NAME", graph.form),
         "directed (default): the k nearest of each image; mutual: only edges in both directions; symmetric: "
         "edges in at least one direction")(
            "npy",
            value("PREFIX",
                  [&graph](const std::string& given) {
                      if (given.empty() || given == "-")
                          throw UsageError(as_given("--npy", given) +
                                           ": two files are written; expected the beginning of their names");
                      graph.npy = given;
                  }),
            "for NumPy: PREFIX-indices.npy and PREFIX-distances.npy, an array of images x k each")(
            "csv", text("--csv", "FILE", graph.csv), "CSV: point,rank,neighbor,distance")(
            "mtx", text("--mtx", "FILE", graph.mtx), "a sparse matrix of distances, MatrixMarket, for SciPy")(
            "json", text("--json", "FILE", options.output.json),
            "machine-readable statistics; - is standard output")(
            "plot", picture("--plot", graph.plot, {".svg"}), "the histogram of in-degrees, an SVG")(
            "quiet,q", po::bool_switch(&options.output.quiet), "no statistics on standard output");
    add_terminal_options(group, options.output, false);
    return group;
}

}  // namespace knn
