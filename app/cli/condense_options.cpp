#include "app/cli/option_kinds.h"
#include "app/cli/options.h"

namespace knn {

OptionGroup condense_search_group(Options& options) {
    OptionGroup group{"Search", {}};
    add_search_options(group, options, {"limit-test"});
    return group;
}

OptionGroup condense_group(Options& options) {
    OptionGroup group{"Output", {}};
    group.list.add_options()  //
        ("out", folder("--out", options.condense.out),
         "the folder for train-images-idx3-ubyte, train-labels-idx1-ubyte and kept.csv")(
            "rule", choice("--rule", "NAME", options.condense.rule),
            "edit: removes images that the others classify wrong; condense: keeps a part that classifies all "
            "as before; both (default): one after the other")(
            "quiet,q", po::bool_switch(&options.output.quiet), "prints nothing");
    add_terminal_options(group, options.output, false);
    return group;
}

}  // namespace knn
