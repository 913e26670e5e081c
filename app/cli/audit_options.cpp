#include "app/cli/option_kinds.h"
#include "app/cli/options.h"

namespace knn {

OptionGroup audit_search_group(Options& options) {
    OptionGroup group{"Search", {}};
    add_search_options(group, options, {});
    return group;
}

OptionGroup audit_group(Options& options) {
    OptionGroup group{"Output", {}};
    AuditOptions& audit = options.audit;
    group.list.add_options()  //
        ("of", choice("--of", "NAME", audit.of),
         "train (default): each training image by all others; test: the test images by the training set")(
            "csv", text("--csv", "FILE", audit.csv),
            "CSV: set,index,label,suggested,probability, the most suspicious first; - is standard output")(
            "json", text("--json", "FILE", options.output.json),
            "machine-readable, with the neighbors; - is standard output")(
            "html", text("--html", "FILE", audit.html),
            "one page for a browser, with the images and their neighbors; - is standard output")(
            "sheet", picture("--sheet", audit.sheet, {".png"}), "a PNG with the most suspicious images")(
            "limit", number("--limit", audit.limit, 1, unlimited),
            "only the first N (default: text and sheet 20, page 500, JSON 1000, CSV all)")(
            "plant", number("--plant", audit.plant, 1, unlimited),
            "makes N labels wrong first, in memory, and says how many of them are found")(
            "seed", number("--seed", audit.seed, 0, unlimited), "which labels --plant takes (default 1)")(
            "quiet,q", po::bool_switch(&options.output.quiet), "nothing on standard output but files");
    add_terminal_options(group, options.output, false);
    return group;
}

}  // namespace knn
