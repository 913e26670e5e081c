#include "app/cli/option_table.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "app/cli/option_kinds.h"
#include "data/core/problem.h"
#include "data/set/locate.h"
#include "data/vectors/vectors.h"

namespace knn {

namespace {

namespace fs = std::filesystem;
using Text = const std::string&;

constexpr const char* files_of_report = "report.json, predictions.csv, confusion.png, index.html";

/// Whether it is a regular file that begins with `text`.
bool begins_with(const fs::path& file, std::string_view text) {
    std::error_code none;
    if (!fs::is_regular_file(file, none)) return false;
    std::string begin(text.size(), '\0');
    std::ifstream(file, std::ios::binary).read(begin.data(), std::ssize(begin));
    return begin == text;
}

/// "0.5%", "auto" or "off".
std::optional<double> parse_reject(Text option, Text value) {
    if (value == "off") return std::nullopt;
    if (value == "auto") return usual_loss;
    constexpr double most = 50;
    if (!value.ends_with('%'))
        throw UsageError(as_given(option, value) +
                         ": neither a percentage such as 0.5% nor a name; expected auto or off");
    return parse_number(option, value, 0, most, "percent of digits", "%") / 100;
}

ElementType parse_written_type(Text option, Text value) {
    const std::vector<std::string> names = {"uint8", "float32", "float64"};
    return *named<ElementType>(names[parse_name(option, value, names)]);
}

/// The beginning of the names of two files.
std::string parse_prefix(Text option, Text value) {
    if (value.empty() || value == "-" || value.ends_with('/'))
        throw UsageError(as_given(option, value) +
                         ": two files are written; expected the beginning of their names");
    return value;
}

/// "9x9": rows and columns.
std::array<int, 2> parse_grid(Text option, Text value) try {
    constexpr std::int64_t most = 50;
    const std::size_t by = std::min(value.find('x'), value.size());
    return {static_cast<int>(parse_integer(option, value.substr(0, by), 1, most)),
            static_cast<int>(parse_integer(option, value.substr(std::min(by + 1, value.size())), 1, most))};
} catch (const UsageError&) {  // of one part, which says less than the whole
    throw UsageError(as_given(option, value) +
                     ": no size of a grid; expected rows x columns, 1 to 50 each, such as 9x9");
}

std::vector<Option> picture_options(Options& o) {
    ClassifyOptions& c = o.classify;
    return {
        {"classify", "--many", flag(c.many),
         "each picture is a page with several digits; they are read row by row from the left"},
        {"classify", "--numbers", flag(c.numbers),
         "--many, with minus signs and decimal points; such as -12.50; a comma is a point"},
        {"classify", "--grid", once("ROWSxCOLS", c.grid, parse_grid),
         "each picture is a grid of lines, such as a sudoku; 9x9, at most 50x50, with at most a digit in "
         "each cell; an empty one is ."},
        {"classify", "--template", input("FILE", c.form),
         "each picture is a form with the fields of FILE; JSON, see docs/classify.md or the man page: "
         "boxes, how many digits, which, their checksum"},
        {"classify", "-r, --recursive", flag(c.recursive),
         "also searches the folders in folders; links are not followed"},
        {"classify learn", "--rotate", choice(c.rotate),
         "turns each picture clockwise by 90, 180 or 270 degrees, after the orientation in its EXIF data; 0 "
         "is the default"},
        {"classify", "--expected", flag(c.expected),
         "their names give the digits (3/a.png, 3.png, a_3.png, a-3.png); prints how many answers are right, "
         "and the confusion matrix"},
        {"classify draw serve", "--reject", once("SHARE", c.reject, parse_reject),
         "a picture unlike the training images, or between two classes, gets ? and the reason; SHARE is the "
         "part of real digits that this may reject, such as 0.5%, at most 50%; auto (default): 0.5%; off: "
         "always a digit"},
    };
}

std::vector<Option> selection_options(Options& o) {
    ViewOptions& v = o.view;
    return {
        {"view", "--from", input("FILE", v.from),
         "the folder of a --report, or the report.json in it, instead of evaluating now"},
        {"view", "--true", several("D", v.true_labels, parse_file_name),
         "only digits whose true label is D, a number or the name of a class (may be repeated)"},
        {"view", "--predicted", several("D", v.predicted_labels, parse_file_name),
         "only digits predicted as D (may be repeated)"},
        {"view", "--index", numbers("N", v.indices, unlimited),
         "only test image N, counted from 0, right or wrong (may be repeated)"},
        {"view", "--all", flag(v.all), "also the correct ones, not only the misclassified"},
        {"view", "--order", choice(v.order),
         "confidence (default), index or pair; confidence: most confident first, index: as in the data set, "
         "pair: by true label, then by predicted label"},
        {"view", "--limit", number(v.limit), "only the first N of them (default: all, with --text 10)"},
    };
}

/// Visible ASCII, so that a header field can carry it.
std::string parse_token(Text option, Text value) {
    const bool fits = std::ranges::all_of(value, [](char letter) { return letter > ' ' && letter <= '~'; });
    if (value.empty() || value.size() > 4096 || !fits)
        throw UsageError(std::string(option) +
                         ": not a token; expected at most 4096 visible ASCII characters, no blanks");
    return value;
}

std::vector<Option> serve_options(Options& o) {
    ServeOptions& s = o.serve;
    constexpr std::int64_t max_port = 65535;
    return {
        {"serve", "--port", number(s.port, 0, max_port), "where to listen (default 8765); 0: any free port"},
        {"serve", "--address", once("ADDRESS", s.address, parse_file_name),
         "where to listen (default 127.0.0.1, this machine alone); numeric; others, such as 0.0.0.0, need "
         "--token"},
        {"serve", "--token", once("TOKEN", s.token, parse_token),
         "requests for answers need it; the page asks for it, programs send Authorization: Bearer TOKEN"},
        {"serve", "--report", input("DIR", s.report),
         "shows the mistakes of this report of evaluate; default: classifies the test set when they are "
         "asked for"},
    };
}

std::vector<Option> bench_options(Options& o) {
    BenchOptions& b = o.bench;
    constexpr std::int64_t max_runs = 100'000, max_rows = std::numeric_limits<std::uint32_t>::max();
    return {
        {"bench", "--case", name_of(bench_case_names(), b.which),
         "an experiment: " + one_of(bench_case_names()) +
             "; those of papers show the published figures next to the measured ones"},
        {"bench", "--only", once("NAME,...", b.only, parse_only),
         "only the rows of these names: distance kernels, selectors, engines, serial"},
        {"bench", "--repeat", number(b.repeat, 1, max_runs),
         "runs of each (default 10); medians are shown, with the fastest and the slowest run"},
        {"bench", "--seconds",
         once("N", b.seconds,
              [](Text option, Text value) { return parse_number(option, value, 0.001, 86'400, "seconds"); }),
         "approximate time limit for the runs of one row (default 5); if it is too short, there are fewer "
         "runs, at least 3, then fewer queries, and the table says how many"},
        {"bench", "--n-train", number(b.n_train, 1, max_rows),
         "only the first N training images; with --dim, the number of random ones"},
        {"bench", "--n-query", number(b.n_query, 1, max_rows),
         "only the first N test images; with --dim, the number of random ones"},
        {"bench", "--dim", number(b.dim, 1, max_dim), "random images of N pixels instead of a data set"},
    };
}

std::vector<Option> data_options(Options& o) {
    DataOptions& d = o.data;
    constexpr const char* all =
        "evaluate classify draw serve view bench graph condense audit tune compare info";
    constexpr const char* searching =
        "evaluate classify draw serve view bench graph condense audit tune info";
    constexpr const char* with_test_set = "evaluate serve view bench audit compare info";
    constexpr const char* all_searching =
        "evaluate classify draw view bench graph condense audit tune compare";
    constexpr const char* with_vector_tests = "evaluate view bench audit compare";
    NeighborsOptions& n = o.neighbors;
    return {
        {"neighbors", "--train", input("FILE", n.train),
         "the vectors among which neighbors are found: IDX, NPY, CSV, fvecs, bvecs, ivecs, fbin, u8bin, "
         "i8bin or ibin; plain or .gz"},
        {"neighbors", "--queries", input("FILE", n.queries),
         "the vectors whose neighbors are found (default: each of --train)"},
        {"neighbors", "--label-column", once("NAME", n.label_column, parse_file_name),
         "the column of CSV files that has labels and is no attribute: its name, its number from 1, or none "
         "(default: the one called label or class)"},
        {"graph", "--images", input("FILE", o.graph.images),
         "images without labels instead of a data set: an IDX file, or a folder of pictures that all have "
         "one size"},
        {all, "--data", input("DIR", d.folder),
         "folder with the four IDX files, each plain or .gz; default: $MNIST_KNN_DATA, then data/mnist, then "
         "the user's data folder; if none is found: built-in synthetic digits"},
        {searching, "--extra", input("DIR", d.extra),
         "a folder that learn --out wrote: its images are added to the training set, each " +
             std::to_string(extra_copies) + " times"},
        {all, "--train-images", input("FILE", d.train_images), "the training images, by name; an IDX file"},
        {all, "--train-labels", input("FILE", d.train_labels), "their labels"},
        {all_searching, "--train", input("FILE", d.train),
         "training vectors of any kind instead of a folder of images; IDX, NPY, CSV, .fvecs, .bvecs, .ivecs, "
         ".fbin, .u8bin, .i8bin or .ibin, plain or gzip; their labels: --train-labels, --label-column, or a "
         "file such as train-labels.npy beside train.npy"},
        {with_vector_tests, "--test", input("FILE", d.test),
         "test vectors of the same columns; labels likewise"},
        {all_searching, "--label-column", once("C", d.label_column, parse_file_name),
         "the column of a CSV that has labels; a name of its header, a number from 1, or none; default: the "
         "one called label or class"},
        {with_test_set, "--test-images", input("FILE", d.test_images), "the test images"},
        {with_test_set, "--test-labels", input("FILE", d.test_labels), "their labels"},
    };
}

std::vector<Option> generate_options(Options& o) {
    GenerateSettings& g = o.generate.settings;
    constexpr std::int64_t max_rows = std::numeric_limits<std::uint32_t>::max();
    OptionValue out = output(o.generate.out);
    out.beside = [](Text file) { return labels_beside(file).string(); };
    return {
        {"generate", "--kind", choice(g.kind),
         "clusters (default), uniform or singh; singh: three decimals from 0 to 1, one class after the "
         "other, as in the paper of 2014"},
        {"generate", "--n", number(g.n, 1, max_rows), "rows (default 10000)"},
        {"generate", "--dim", number(g.dim, 1, max_columns), "columns (default 64)"},
        {"generate", "--clusters", number(g.clusters, 1, 256), "classes (default 10)"},
        {"generate", "--spread",
         once("S", g.spread, [](Text option, Text value) { return parse_number(option, value, 0, 1e6); }),
         "standard deviation around the centers, which lie between 0 and 1 (default 0.1)"},
        {"generate", "--seed", number(g.seed, 0), "other rows for each N (default 1)"},
        {"generate", "--skip", number(g.skip, 0, max_rows),
         "rows before the first; a test set: as many as the training set has"},
        {"generate", "--type", once("NAME", g.type, parse_written_type),
         "uint8, float32 (default) or float64"},
        {"generate", "--out", out,
         "the file; the ending says the format: .npy, .csv, .fvecs, .bvecs, .fbin or .u8bin; labels: "
         "NAME-labels.npy beside it, of NAME.csv NAME-labels.csv"},
    };
}

std::vector<Option> form_options(Options& o) {
    ViewOptions& v = o.view;
    return {
        {"view", "--sheet", picture(v.sheet, ".png"),
         "a PNG with all of them; of OUT.png, several pages are OUT-1.png, OUT-2.png ..."},
        {"view", "--html", output(v.html),
         "one page for a browser, with the confusion matrix; - is standard output"},
        {"view", "--text", flag(v.text), "in the terminal, in block characters of UTF-8"},
    };
}

/// The files that commands write, in the order in which messages name them.
std::vector<Option> output_options(Options& o) {
    OutputOptions& out = o.output;
    const auto two_npy = [](std::string& target) {
        OptionValue value = written("PREFIX", target, parse_prefix);
        value.endings = npy_endings;
        value.own = {npy_endings[0], npy_head};
        return value;
    };
    NeighborsOptions& n = o.neighbors;
    static const std::array set{mnist_files[0].name, mnist_files[1].name, mnist_files[2].name,
                                mnist_files[3].name};
    static const std::array kept{
        set[0], set[1], "kept.csv", "train.npy", "train-labels.npy", "train-labels.csv"};
    constexpr OwnFile report = {report_files[0], report_head};
    return {
        {"learn", "--out", folder(o.learn.out, learned_files, {learned_files[2], learned_header}),
         "the training set that is written: IDX files, and learned.csv, which says where each image is from"},
        {"condense", "--out", folder(o.condense.out, kept, {kept[2], kept_header}),
         "the folder for train-images-idx3-ubyte, train-labels-idx1-ubyte and kept.csv, the indices of the "
         "kept images; vectors that are no images, and images whose classes have names: train.npy with "
         "train-labels.npy or train-labels.csv; all are written, or none"},
        {"condense", "--rule", choice(o.condense.rule),
         "both (default), edit or condense; edit: removes images that the others misclassify, until there "
         "are none, condense: keeps a subset that gives every image the answer of the whole set, both: one "
         "after the other"},
        {"audit", "--of", choice(o.audit.of),
         "train (default) or test; train: each training image by all others, test: the test images by the "
         "training set"},
        {"graph", "--form", choice(o.graph.form),
         "directed (default), mutual or symmetric; directed: the k nearest of each image, mutual: only edges "
         "in both directions, symmetric: edges in at least one direction"},
        {"graph", "--npy", two_npy(o.graph.npy),
         "for NumPy: PREFIX-indices.npy and PREFIX-distances.npy, an array of images x k each; directed "
         "graphs only"},
        {"neighbors", "--range",
         once("R", n.range, [](Text option, Text value) { return parse_number(option, value, 0, 1e300); }),
         "instead of -k: all within the distance R, also those at R; in the units of the metric, of l2 the "
         "squared distance"},
        {"neighbors", "--exclude-self", flag(n.exclude_self),
         "without --queries: no row is its own neighbor; equal rows are"},
        {"neighbors", "--npy", two_npy(n.npy),
         "for NumPy: PREFIX-indices.npy and PREFIX-distances.npy, an array of queries x k each"},
        {"neighbors", "--npz", output(n.npz),
         "of --range: a sparse matrix of distances, queries x training rows, for scipy.sparse.load_npz"},
        {"neighbors", "--ibin", output(n.ibin),
         "ground truth as big-ann-benchmarks has it: two uint32, queries and k, then all indices as int32, "
         "then all distances as float32"},
        {"tune", "--save", output(o.tune.save), "the best method, for --method FILE"},
        {"audit", "--csv", output(o.audit.csv),
         "CSV: set,index,label,suggested,probability, the most suspicious first; - is standard output"},
        {"compare", "--csv", output(o.compare.csv),
         "CSV: index,label,a,b, the digits that only one gets right; - is standard output"},
        {"compare", "--html", output(o.compare.html),
         "the same as a page with pictures; - is standard output"},
        {"graph", "--csv", output(o.graph.csv), "CSV: point,rank,neighbor,distance; - is standard output"},
        {"neighbors", "--csv", output(n.csv), "CSV: query,rank,index,distance; - is standard output"},
        {"graph", "--mtx", output(o.graph.mtx), "a sparse matrix of distances, MatrixMarket, for SciPy"},
        {"evaluate audit tune bench compare graph neighbors classify info", "--json", output(out.json),
         "a machine-readable report; - is standard output, which then holds nothing else"},
        {"classify", "--json-version", number(o.classify.json_version, 1, 2),
         "2 (default): --json is an object with the schema, the program and the array pictures; 1: only this "
         "array"},
        {"classify", "--pixels", flag(o.classify.pixels),
         "with --json: the 28x28 pixels of each digit, row by row, 255 for ink"},
        {"bench", "--csv", output(o.bench.csv),
         "CSV: one line per measurement and per row that was left out; - is standard output"},
        {"tune", "--csv", output(o.tune.csv), "CSV: all configurations; - is standard output"},
        {"evaluate", "--predictions", output(out.predictions),
         "CSV: index,label,predicted,confidence,vote_share"},
        {"evaluate", "--neighbors-csv", output(out.neighbors_csv),
         "CSV: query,rank,index,label,distance, with the rank counted from 1"},
        {"classify", "--explain", picture(o.classify.explain, ".png"),
         "a PNG with each of the first 50 pictures, the steps to its 28x28 pixels, and the neighbors of "
         "these"},
        {"classify", "--review", folder(o.classify.review, {}),
         "asks in the terminal for the digits that were rejected or are less than 90 % certain, and writes "
         "them to DIR/0 to DIR/9, or DIR/? for no digit, for learn"},
        {"audit", "--html", output(o.audit.html),
         "one page for a browser, with the images and their neighbors; - is standard output"},
        {"audit", "--sheet", picture(o.audit.sheet, ".png"), "a PNG with the most suspicious images"},
        {"bench", "--plot", picture(o.bench.plot, ".svg"), "the measurements as an SVG"},
        {"graph", "--plot", picture(o.graph.plot, ".svg"), "the histogram of in-degrees as an SVG"},
        {"tune", "--plot", picture(o.tune.plot, ".svg"), "errors over k, as an SVG"},
        {"classify", "--report", folder(out.report, report_files, report),
         std::string("with --expected, a folder with the results; ") + files_of_report +
             ", and the 28x28 pixels of the pictures, so that view --from DIR shows them"},
        {"evaluate", "--report", folder(out.report, report_files, report),
         std::string("a folder with all of it: ") + files_of_report},
        {"info", "--write-synthetic", folder(o.info.write_synthetic, set),
         "writes the built-in synthetic digits as IDX files and does nothing else"},
        {"info", "--clear-cache", flag(o.info.clear_cache),
         "removes what earlier runs kept in the user's cache folder and does nothing else"},
        {"audit", "--limit", number(o.audit.limit),
         "only the first N (default: text and sheet 20, page 500, JSON 1,000, CSV all)"},
        {"audit", "--plant", number(o.audit.plant),
         "makes N labels wrong first, in memory, and says how many of them are found"},
        {"audit", "--seed", number(o.audit.seed, 0), "which labels --plant takes (default 1)"},
        {"tune", "--limit", number(o.tune.limit), "lines of the table (default 20); files have all"},
        {"evaluate", "-q, --quiet", flag(out.quiet), "only the accuracy"},
        {"classify", "-q, --quiet", flag(out.quiet),
         "only the digits; one line per picture, row of a page or field of a form, 'error' for a picture "
         "that failed; with --expected the counts"},
        {"view", "-q, --quiet", flag(out.quiet), "no summary, and no notes except about synthetic digits"},
        {"bench", "-q, --quiet", flag(out.quiet), "no progress bar"},
        {"serve", "-q, --quiet", flag(out.quiet), "no notes except about synthetic digits"},
        {"graph neighbors condense audit learn", "-q, --quiet", flag(out.quiet),
         "nothing on standard output except files"},
        {"tune", "-q, --quiet", flag(out.quiet), "only the best configuration"},
        {"generate", "-q, --quiet", flag(out.quiet), "nothing on standard output"},
        {"compare", "-q, --quiet", flag(out.quiet), "only the conclusion, in one sentence"},
        {"evaluate classify draw serve view audit", "--no-cache", flag(o.no_cache),
         "neither reads nor writes the user's cache folder"},
        {"evaluate classify view", "--color", choice(out.color, "WHEN"),
         "auto (default: on a terminal), always or never"},
        {"evaluate classify view bench graph neighbors condense audit tune generate learn", "--progress",
         choice(out.progress, "WHEN"), "auto (default: on a terminal), always or never"},
    };
}

}  // namespace

bool Option::is_rare() const {
    static constexpr std::array rare = {
        "--train-images", "--train-labels", "--test-images", "--test-labels", "--train",      "--test",
        "--label-column", "--extra",        "--transform",   "--rerank",      "--candidates", "--vote",
        "--engine",       "--distance",     "--select",      "--metric",      "--p",          "--weights",
        "--tie",          "--spread",       "--memory",      "--limit-train", "--limit-test", "--sketch",
        "--batch",        "--threads",      "--review",      "--pixels",      "--seed",       "--no-cache",
        "--color",        "--progress",     "--json-version"};
    const bool is_its_input = std::string_view(commands) == "neighbors" && shown() == "--train";
    return !is_its_input && std::find(rare.begin(), rare.end(), shown()) != rare.end();
}

bool Option::belongs_to(std::string_view command) const {
    const std::vector<std::string> names = words_of(commands);
    return command.empty() || std::find(names.begin(), names.end(), command) != names.end();
}

char Option::letter() const {
    return name[1] == '-' ? '\0' : name[1];
}

std::string Option::shown() const {
    const std::string_view all = name;
    const std::size_t begin = all.find("--");
    return std::string(all.substr(begin == all.npos ? 0 : begin));
}

std::string Option::key() const {
    const std::string full = shown();
    return full.starts_with("--") ? full.substr(2) : full;
}

std::vector<OptionGroup> option_table(Options& options, std::string_view command) {
    std::vector<OptionGroup> groups = {
        {"Pictures", picture_options(options)}, {"Digits", selection_options(options)},
        {"Network", serve_options(options)},    {"What is measured", bench_options(options)},
        {"Vectors", generate_options(options)}, {"Data", data_options(options)},
        {"Search", search_options(options)},    {"Form (none: a window)", form_options(options)},
        {"Output", output_options(options)}};
    for (OptionGroup& group : groups)
        std::erase_if(group.options, [&](const Option& option) { return !option.belongs_to(command); });
    std::erase_if(groups, [](const OptionGroup& group) { return group.options.empty(); });
    return groups;
}

std::vector<Option> options_of(Options& options, std::string_view command) {
    std::vector<Option> all;
    for (OptionGroup& group : option_table(options, command))
        std::move(group.options.begin(), group.options.end(), std::back_inserter(all));
    return all;
}

std::vector<OutputPlace> output_places(const Options& options) {
    Options copy = options;
    std::vector<OutputPlace> all;
    std::set<const std::string*> seen;  // rows of different commands may have one target
    for (const Option& option : options_of(copy)) {
        const OptionValue& value = option.value;
        if (value.output == nullptr || value.output->empty() || !seen.insert(value.output).second) continue;
        const std::string name = option.shown(), &given = *value.output;
        if (value.endings.empty()) all.push_back({name, given, value.is_folder});
        if (value.beside != nullptr)
            all.push_back({name, value.beside(given), false, false, [given] { return fs::exists(given); }});
        const auto add = [&](const std::string& file, const std::string& own, bool in_folder) {
            OutputPlace& place = all.emplace_back(OutputPlace{name, file, false, in_folder});
            if (value.own.name != nullptr)
                place.is_own = [own, text = value.own.text] { return begins_with(own, text); };
        };
        for (const char* ending : value.endings)
            add(given + ending, given + value.own.name, false);
        const fs::path folder = given;
        for (const char* file : value.names)
            add(folder / file, folder / (value.own.name != nullptr ? value.own.name : ""), true);
    }
    return all;
}

void clear_outputs(Options& options) {
    for (const Option& option : options_of(options))
        if (option.value.output != nullptr) option.value.output->clear();
}

}  // namespace knn
