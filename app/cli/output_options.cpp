#include "app/cli/option_kinds.h"
#include "app/cli/options.h"
#include "data/core/errors.h"

namespace knn {

namespace {

/// "0.5%", "auto" or "off".
std::optional<double> parse_reject(const std::string& given) {
    if (given == "off") return std::nullopt;
    if (given == "auto") return usual_loss;
    constexpr double most = 50;
    if (!given.ends_with('%'))
        throw UsageError(as_given("--reject", given) +
                         ": neither a percentage such as 0.5% nor a name; expected auto or off");
    return parse_number("--reject", given, 0, most, "percent of digits", "%") / 100;
}

void add_reject_option(OptionGroup& group, ClassifyOptions& classify) {
    group.list.add_options()  //
        ("reject", value("SHARE", [&](const std::string& given) { classify.reject = parse_reject(given); }),
         "a picture unlike the training images, or like two digits, gets ? and the reason: so often that "
         "about this share of digits is lost, such as 0.5%, at most 50%; auto (default): 0.8%; off: always a "
         "digit");
}

}  // namespace

void add_terminal_options(OptionGroup& group, OutputOptions& output, bool color) {
    constexpr const char* help = "auto (default: on a terminal), always or never";
    if (color) group.list.add_options()("color", choice("--color", "WHEN", output.color), help);
    group.list.add_options()("progress", choice("--progress", "WHEN", output.progress), help);
}

void add_cache_option(OptionGroup& group, Options& options) {
    group.list.add_options()("no-cache", po::bool_switch(&options.no_cache),
                             "neither reads nor writes the user's cache folder");
}

OptionGroup classify_group(Options& options) {
    OptionGroup group{"Pictures and output", {}};
    OutputOptions& output = options.output;
    ClassifyOptions& classify = options.classify;
    group.list.add_options()  //
        ("many", po::bool_switch(&classify.many),
         "each picture is a page with several digits, read row by row from the left")(
            "recursive,r", po::bool_switch(&classify.recursive), "goes into the folders of folders, too")(
            "rotate", choice("--rotate", "NAME", classify.rotate),
            "turns each picture clockwise by 90, 180 or 270 degrees; 0 (default): as EXIF says")(
            "expected", po::bool_switch(&classify.expected),
            "the names of pictures tell their digits (3/a.png, a_3.png): prints how many answers are right, "
            "and "
            "the confusion matrix")(
            "report", folder("--report", output.report),
            "with --expected: report.json, predictions.csv, confusion.png, index.html")(
            "explain", picture("--explain", classify.explain, {".png"}),
            "a PNG with each picture, the steps to its 28x28 pixels, and the neighbors of these")(
            "json", text("--json", "FILE", output.json), "machine-readable answers; - is standard output")(
            "pixels", po::bool_switch(&classify.pixels), "with --json: the 28x28 pixels of each digit")(
            "quiet,q", po::bool_switch(&output.quiet),
            "only the digits, one line per picture or row of a page");
    add_reject_option(group, classify);
    add_cache_option(group, options);
    add_terminal_options(group, output);
    return group;
}

OptionGroup draw_group(Options& options) {
    OptionGroup group{"Answers", {}};
    add_reject_option(group, options.classify);
    add_cache_option(group, options);
    return group;
}

OptionGroup output_group(Options& options) {
    OptionGroup group{"Output", {}};
    OutputOptions& output = options.output;
    group.list.add_options()  //
        ("json", text("--json", "FILE", output.json), "machine-readable report; - is standard output")(
            "predictions", text("--predictions", "FILE", output.predictions),
            "CSV: index,label,predicted,confidence,vote_share")(
            "neighbors-csv", text("--neighbors-csv", "FILE", output.neighbors_csv),
            "CSV: query,rank,index,label,distance")(
            "report", folder("--report", output.report),
            "all of them: report.json, predictions.csv, confusion.png, index.html")(
            "quiet,q", po::bool_switch(&output.quiet), "only the accuracy");
    add_cache_option(group, options);
    add_terminal_options(group, output);
    return group;
}

OptionGroup info_group(Options& options) {
    OptionGroup group{"Output", {}};
    group.list.add_options()  //
        ("json", text("--json", "FILE", options.info.json), "the same as JSON; - is standard output")(
            "write-synthetic", folder("--write-synthetic", options.info.write_synthetic),
            "writes the built-in synthetic digits as IDX files and does nothing else");
    return group;
}

OptionGroup selection_group(Options& options) {
    OptionGroup group{"Digits", {}};
    ViewOptions& view = options.view;
    constexpr std::int64_t max_label = 255;
    group.list.add_options()  //
        ("from", text("--from", "FILE", view.from),
         "the report.json of an evaluation, or the folder of --report, instead of evaluating now")(
            "true", numbers("--true", "D", view.true_labels, max_label),
            "only digits whose true label is D; may be repeated")(
            "predicted", numbers("--predicted", "D", view.predicted_labels, max_label),
            "only digits predicted as D; may be repeated")(
            "index", numbers("--index", "N", view.indices, unlimited),
            "only test image N, right or wrong; may be repeated")(
            "all", po::bool_switch(&view.all), "includes the correct ones, not only the misclassified")(
            "order", choice("--order", "NAME", view.order),
            "confidence (default: highest first), index or pair (of labels)")(
            "limit", number("--limit", view.limit, 1, unlimited),
            "only the first N of them (default: all; with --text 10)");
    return group;
}

OptionGroup form_group(Options& options) {
    OptionGroup group{"Form (none: a window)", {}};
    ViewOptions& view = options.view;
    OutputOptions& output = options.output;
    group.list.add_options()  //
        ("sheet", picture("--sheet", view.sheet, {".png"}),
         "a PNG with all of them; of OUT.png, several pages are OUT-1.png, OUT-2.png ...")(
            "html", text("--html", "FILE", view.html),
            "one page for a browser, with the confusion matrix; - is standard output")(
            "text", po::bool_switch(&view.text), "in the terminal, as block characters")(
            "quiet,q", po::bool_switch(&output.quiet),
            "no summary, and no notes except about synthetic digits and a missing GPU");
    add_cache_option(group, options);
    add_terminal_options(group, output);
    return group;
}

}  // namespace knn
