#include "app/options.h"

#include <array>
#include <boost/program_options/value_semantic.hpp>
#include <functional>

#include "app/engines.h"
#include "app/values.h"

namespace po = boost::program_options;

namespace knn {

namespace {

const std::array<std::string, 1> metric_names = {"l2"};
const std::array<std::string, 2> weights_names = {"uniform", "distance"};
const std::array<std::string, 2> tie_names = {"smallest", "nearest"};
const std::array<std::string, 3> when_names = {"auto", "always", "never"};
const std::array<std::string, 2> reject_names = {"off", "auto"};
constexpr int most_threads = 4096;

using Reader = std::function<void(const std::string&)>;

auto* value(const char* placeholder, Reader read) {
    return po::value<std::string>()->value_name(placeholder)->notifier(std::move(read));
}

/// A text that must not be empty: a file, a folder.
auto* text(const char* option, const char* placeholder, std::string& target) {
    return value(placeholder, [option, &target](const std::string& given) {
        if (given.empty()) throw UsageError(std::string(option) + " '': empty; expected a name");
        target = given;
    });
}

template <class Number>
auto* number(const char* option, Number& target, std::int64_t low, std::int64_t high) {
    return value("N", [=, &target](const std::string& given) {
        target = static_cast<Number>(parse_integer(option, given, low, high));
    });
}

template <class Enum>
auto* choice(const char* option, const char* placeholder, Enum& target, std::span<const std::string> names) {
    return value(placeholder, [=, &target](const std::string& given) {
        target = static_cast<Enum>(parse_name(option, given, names));
    });
}

std::vector<std::string> engine_names() {
    std::vector<std::string> names;
    for (const Engine& engine : engines())
        names.emplace_back(engine.name);
    names.emplace_back("auto");
    return names;
}

/// The name of one of the GPU pipeline's strategies.
auto* strategy(const char* option, std::string& target, std::vector<Strategy> (*table)()) {
    return value("NAME", [=, &target](const std::string& given) {
        std::vector<std::string> names;
        for (const Strategy& known : table())
            names.push_back(known.name);
        if (names.empty())
            throw UsageError(std::string(option) + " " + given +
                             ": this build has no GPU kernels; expected a build with CUDA");
        target = names[parse_name(option, given, names)];
    });
}

void read_device(const std::string& given, SearchOptions& search) {
    const std::array<std::string, 4> names = {"auto", "cpu", "gpu", "gpu:N"};
    search.device = given;
    if (given.starts_with("gpu:")) {
        search.device_number =
            static_cast<int>(parse_integer("--device gpu:N with N =", given.substr(4), 0, 1023));
    } else {
        parse_name("--device", given, std::span(names).first(3));
    }
}

}  // namespace

OptionGroup data_group(Options& options) {
    OptionGroup group{"Data", {}};
    DataOptions& data = options.data;
    group.list.add_options()  //
        ("data", text("--data", "DIR", data.folder),
         "folder with the four IDX files, each plain or .gz; default: $MNIST_KNN_DATA, then data/mnist, then "
         "the user's data folder; where none is found: built-in synthetic digits")                        //
        ("train-images", text("--train-images", "FILE", data.train_images), "the four files one by one")  //
        ("train-labels", text("--train-labels", "FILE", data.train_labels), "")(
            "test-images", text("--test-images", "FILE", data.test_images), "")(
            "test-labels", text("--test-labels", "FILE", data.test_labels), "");
    return group;
}

OptionGroup search_group(Options& options) {
    OptionGroup group{"Search", {}};
    SearchOptions& search = options.search;
    const auto engine = [&search](const std::string& given) {
        const std::vector<std::string> names = engine_names();
        search.engine = names[parse_name("--engine", given, names)];
        search.engine_named = true;
    };
    const std::string engine_help = one_of(engine_names()) + " (default " + search.engine + ")";
    group.list.add_options()                                                          //
        (",k", number("-k", search.k, 1, max_k), "neighbors, 1 to 1024 (default 5)")  //
        ("engine", value("NAME", engine), engine_help.c_str())(
            "distance", strategy("--distance", search.distance, distance_kernels), "another distance kernel")(
            "select", strategy("--select", search.select, selectors), "another selector")(
            "metric", choice("--metric", "NAME", search.metric, metric_names), "l2 (default)")(
            "weights", choice("--weights", "NAME", search.weights, weights_names),
            "uniform (default), or distance: a vote counts 1/d\u00b2")(
            "tie", choice("--tie", "NAME", search.tie, tie_names),
            "equal votes go to the smallest label (default) or to the class of the nearest neighbor")(
            "device", value("NAME", [&search](const std::string& given) { read_device(given, search); }),
            "auto (default: a GPU if there is one, else the CPU), cpu, gpu or gpu:N")(
            "limit-train", number("--limit-train", search.limit_train, 1, unlimited),
            "the first N training images only")(
            "limit-test", number("--limit-test", search.limit_test, 1, unlimited),
            "the first N test images only")("batch", number("--batch", search.batch, 1, unlimited),
                                            "test images a batch (default: what fits the memory)")(
            "threads", number("--threads", search.threads, 1, most_threads), "CPU threads (default: all)");
    return group;
}

OptionGroup classify_search_group(Options& options) {
    OptionGroup all = search_group(options), group{"Search", {}};
    for (const auto& option : all.list.options())
        if (option->long_name() != "limit-test") group.list.add(option);
    return group;
}

OptionGroup classify_group(Options& options) {
    OptionGroup group{"Pictures and output", {}};
    OutputOptions& output = options.output;
    ClassifyOptions& classify = options.classify;
    group.list.add_options()  //
        ("many", po::bool_switch(&classify.many),
         "each picture is a page with several digits, read row by row from the left")(
            "reject", choice("--reject", "NAME", classify.reject, reject_names),
            "auto (default): a picture that looks like no training image gets ? and the reason; off: always "
            "a digit")("explain", text("--explain", "FILE", classify.explain),
                       "a PNG with each picture, the steps to its 28x28 pixels, and the neighbors of these")(
            "json", text("--json", "FILE", output.json), "the answers for machines; - is standard output")(
            "quiet,q", po::bool_switch(&output.quiet), "the digits alone, one line a picture")(
            "no-cache", po::bool_switch(&classify.no_cache),
            "neither reads nor writes the copy of the training set in the user's cache folder")(
            "color", choice("--color", "WHEN", output.color, when_names),
            "auto (default: on a terminal), always or never")(
            "progress", choice("--progress", "WHEN", output.progress, when_names),
            "auto (default: on a terminal), always or never");
    return group;
}

OptionGroup output_group(Options& options) {
    OptionGroup group{"Output", {}};
    OutputOptions& output = options.output;
    group.list.add_options()  //
        ("json", text("--json", "FILE", output.json), "the report for machines; - is standard output")(
            "predictions", text("--predictions", "FILE", output.predictions),
            "CSV: index,label,predicted,confidence")("neighbors-csv",
                                                     text("--neighbors-csv", "FILE", output.neighbors_csv),
                                                     "CSV: query,rank,index,label,distance")(
            "report", text("--report", "DIR", output.report),
            "all of it: report.json, predictions.csv, confusion.png, index.html")(
            "quiet,q", po::bool_switch(&output.quiet), "the accuracy alone")(
            "color", choice("--color", "WHEN", output.color, when_names),
            "auto (default: on a terminal), always or never")(
            "progress", choice("--progress", "WHEN", output.progress, when_names),
            "auto (default: on a terminal), always or never");
    return group;
}

OptionGroup info_group(Options& options) {
    OptionGroup group{"Output", {}};
    group.list.add_options()  //
        ("json", text("--json", "FILE", options.info.json), "the same for machines; - is standard output")(
            "write-synthetic", text("--write-synthetic", "DIR", options.info.write_synthetic),
            "writes the built-in synthetic digits as IDX files and does nothing else");
    return group;
}

const char* name(Metric metric) {
    return metric_names.at(static_cast<std::size_t>(metric)).c_str();
}
const char* name(Weights weights) {
    return weights_names.at(static_cast<std::size_t>(weights)).c_str();
}
const char* name(Tie tie) {
    return tie_names.at(static_cast<std::size_t>(tie)).c_str();
}

}  // namespace knn
