#include "app/cli/option_kinds.h"
#include "app/cli/options.h"
#include "data/core/errors.h"
#include "data/core/problem.h"

namespace knn {

namespace {

/// "A-B" or "N".
void read_range(const std::string& given, VoteRange& range) {
    const std::size_t dash = given.find('-', 1);
    range.low = static_cast<int>(parse_integer("-k", given.substr(0, dash), 1, max_k));
    range.high = dash == std::string::npos
                     ? range.low
                     : static_cast<int>(parse_integer("-k", given.substr(dash + 1), range.low, max_k));
}

}  // namespace

OptionGroup tune_search_group(Options& options) {
    OptionGroup group{"Search", {}};
    TuneOptions& tune = options.tune;
    VoteRange& range = tune.range;
    group.list.add_options()  //
        (",k", value("RANGE", [&range](const std::string& given) { read_range(given, range); }),
         "the numbers of neighbors to try, A-B or N, up to 1024 (default 1-30)")(
            "method",
            several("NAME|FILE",
                    [&options](const std::string& given) {
                        options.tune.methods.push_back(parse_method(given, options));
                    }),
            "a method, or a FILE of --save, without its vote; may be repeated (default raw)")(
            "transform",
            several("LIST",
                    [&tune](const std::string& given) {
                        tune.transforms.push_back(parse_transform("--transform", given));
                    }),
            "instead of the method's; may be repeated")(
            "metric",
            several("NAME",
                    [&tune](const std::string& given) {
                        tune.metrics.push_back(parse_choice<Metric>("--metric", given));
                    }),
            "instead of the method's; may be repeated")("p",
                                                        value("P",
                                                              [&options](const std::string& given) {
                                                                  options.method.measure.p = parse_number(
                                                                      "--p", given, min_p, max_p);
                                                              }),
                                                        "the exponent of --metric lp, 0.1 to 15")(
            "rerank",
            several("NAME",
                    [&tune](const std::string& given) {
                        read_reranker("--rerank", given, tune.rerankers.emplace_back());
                    }),
            "instead of the method's; may be repeated")(
            "candidates", number("--candidates", tune.candidates, min_candidates, max_k),
            "how many nearest are ordered again, 10 to 1024")(
            "vote", choice("--vote", "NAME", range.votes),
            "only majority, or only class-mean (default: both)")(
            "weights", choice("--weights", "NAME", range.weights),
            "only uniform, or only distance (default: both)")(
            "tie", choice("--tie", "NAME", range.tie), "only smallest, or only nearest (default: both)");
    add_search_options(group, options,
                       {"", "method", "transform", "metric", "p", "rerank", "candidates", "vote", "weights",
                        "tie", "limit-test"});
    return group;
}

OptionGroup tune_output_group(Options& options) {
    OptionGroup group{"Output", {}};
    TuneOptions& tune = options.tune;
    group.list.add_options()  //
        ("limit", number("--limit", tune.limit, 1, unlimited),
         "lines of the table (default 20); files have all")("save", text("--save", "FILE", tune.save),
                                                            "the best method, for --method FILE")(
            "json", text("--json", "FILE", options.output.json), "all configurations; - is standard output")(
            "csv", text("--csv", "FILE", tune.csv), "the same as CSV")(
            "plot", picture("--plot", tune.plot, {".svg"}), "errors over k, an SVG")(
            "quiet,q", po::bool_switch(&options.output.quiet), "only the best configuration");
    add_terminal_options(group, options.output, false);
    return group;
}

OptionGroup compare_output_group(Options& options) {
    OptionGroup group{"Output", {}};
    CompareOptions& compare = options.compare;
    group.list.add_options()  //
        ("csv", text("--csv", "FILE", compare.csv), "the digits that only one gets right: index,label,a,b")(
            "html", text("--html", "FILE", compare.html),
            "the same as a page with pictures; - is standard output")(
            "json", text("--json", "FILE", options.output.json),
            "the counts and the test; - is standard output")(
            "quiet,q", po::bool_switch(&options.output.quiet), "only the sentence that says what it means");
    return group;
}

}  // namespace knn
