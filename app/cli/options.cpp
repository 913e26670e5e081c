#include "app/cli/options.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "app/cli/option_kinds.h"
#include "classifier/method_file.h"
#include "data/core/errors.h"
#include "data/core/problem.h"
#include "data/file/text_file.h"

namespace knn {

namespace {

constexpr int max_threads = 4096;

std::vector<std::string> engine_names() {
    std::vector<std::string> names;
    for (const Engine& engine : engines())
        names.emplace_back(engine.name);
    names.emplace_back(fastest_engine);
    return names;
}

std::vector<std::string> names_of(const std::vector<Strategy>& table) {
    std::vector<std::string> names;
    for (const Strategy& known : table)
        names.push_back(known.name);
    return names;
}

std::vector<std::string> method_names() {
    std::vector<std::string> names;
    for (const NamedMethod& method : methods())
        names.emplace_back(method.name);
    return names;
}

/// "WHAT: a, b or c".
std::string strategy_help(const std::string& what, const std::vector<Strategy>& table) {
    return what + (table.empty() ? " (none in this build)" : ": " + one_of(names_of(table)));
}

/// The name of a distance kernel or a selector.
auto* strategy(const char* option, std::string& target, std::vector<Strategy> (*table)()) {
    return value("NAME", [=, &target](const std::string& given) {
        const std::vector<std::string> names = names_of(table());
        if (names.empty())
            throw UsageError(as_given(option, given) +
                             ": this build has no GPU kernels; expected a build with CUDA");
        target = names[parse_strategy_name(option, given, names)];
    });
}

auto* engine_value(Wish& wish) {
    return value("NAME", [&wish](const std::string& given) {
        const std::vector<std::string> names = engine_names();
        wish.engine = names[parse_name("--engine", given, names)];
    });
}

/// What --distance takes: the kernels of `classic`, which the help lists, and those of `tensor`.
std::vector<Strategy> nameable_distances() {
    std::vector<Strategy> all = distance_kernels();
    for (Strategy& kernel : tensor_kernels())
        all.push_back(std::move(kernel));
    return all;
}

/// The numbers after "gpu:", separated by commas.
DeviceWish gpu_wish(const std::string& given) {
    DeviceWish wish{DeviceKind::gpu};
    std::size_t at = 4;
    for (bool more = true; more;) {
        const std::size_t comma = given.find(',', at);
        more = comma != std::string::npos;
        const auto number =
            static_cast<int>(parse_integer("--device gpu:N with N =", given.substr(at, comma - at), 0, 1023));
        if (number == wish.number || std::count(wish.others.begin(), wish.others.end(), number) > 0)
            throw UsageError(as_given("--device", given) + ": names a GPU twice; expected each once");
        if (wish.number)
            wish.others.push_back(number);
        else
            wish.number = number;
        at = comma + 1;
    }
    return wish;
}

DeviceWish device_wish(const std::string& given) {
    const std::array<std::string, 5> names = {"auto", "cpu", "gpu", "gpu:all", "gpu:N"};
    if (given == "gpu:all") {
        DeviceWish wish{DeviceKind::gpu};
        wish.all = true;
        return wish;
    }
    if (given.starts_with("gpu:")) return gpu_wish(given);
    // Never the last, which was read above.
    return {static_cast<DeviceKind>(parse_name("--device", given, names)), std::nullopt};
}

}  // namespace

Method parse_method(const std::string& given, Options& options) {
    const std::vector<std::string> names = method_names();
    const bool is_name = std::find(names.begin(), names.end(), given) != names.end();
    const bool is_file = given.find_first_of("./") != std::string::npos || ::access(given.c_str(), F_OK) == 0;
    if (is_name || !is_file) return methods()[parse_name("--method", given, names)].method;
    options.method_files.emplace_back(given);
    return parse_method_text(
        read_text(given, max_method_bytes, "a method that 'mnist-knn tune --save' wrote"), given);
}

OptionGroup data_group(Options& options) {
    OptionGroup group{"Data", {}};
    DataOptions& data = options.data;
    group.list.add_options()  //
        ("data", text("--data", "DIR", data.folder),
         "folder with the four IDX files, each plain or .gz; default: $MNIST_KNN_DATA, then data/mnist, then "
         "the user's data folder; if none is found: built-in synthetic digits")  //
        ("train-images", text("--train-images", "FILE", data.train_images),
         "each of the four files by name")  //
        ("train-labels", text("--train-labels", "FILE", data.train_labels), "")(
            "test-images", text("--test-images", "FILE", data.test_images), "")(
            "test-labels", text("--test-labels", "FILE", data.test_labels), "");
    return group;
}

OptionGroup search_group(Options& options, const char* usual_method) {
    OptionGroup group{"Search", {}};
    Wish& wish = options.wish;
    const std::string distance_help = strategy_help("another distance kernel", distance_kernels());
    const std::string select_help = strategy_help("another selector", selectors());
    const std::string engine_help = one_of(engine_names()) + " (default " + default_engine + ")";
    const std::string method_help = "a whole classifier: " + one_of(method_names()) + " (default " +
                                    usual_method +
                                    "), or a FILE of tune --save; options beside it override its parts";
    const std::string transform_help = "what is compared: " + transform_names() +
                                       "; several one after another, with commas (default: the method's)";
    group.list.add_options()  //
        ("method", value("NAME|FILE", [](const std::string&) {}), method_help.c_str())(
            "transform",
            value("LIST",
                  [&options](const std::string& given) {
                      options.method.transform = parse_transform("--transform", given);
                  }),
            transform_help.c_str())(
            "rerank",
            value("NAME",
                  [&options](const std::string& given) {
                      read_reranker("--rerank", given, options.method.rerank);
                  }),
            "none; distortion, cells or both: orders the nearest again by a distance that lets pixels move; "
            "spread[:N:mean|deviation:times|plus:W]: by distances scaled by how far an image lies from "
            "its class")("candidates",
                         number("--candidates", options.method.rerank.candidates, min_candidates, max_k),
                         "how many nearest are ordered again, 10 to 1024")(
            "vote", choice("--vote", "NAME", options.method.vote.votes),
            "majority, or class-mean: the class whose nearest k candidates are nearest on average")  //
        (",k", number("-k", options.method.vote.k, 1, max_k),
         "neighbors, 1 to 1024 (default 5; accurate: 4)")  //
        ("engine", engine_value(wish), engine_help.c_str())(
            "distance", strategy("--distance", wish.distance, nameable_distances), distance_help.c_str())(
            "select", strategy("--select", wish.select, selectors), select_help.c_str())(
            "metric", choice("--metric", "NAME", options.method.measure.metric),
            "l2 (default), l1, lp, cosine or pearson")("p",
                                                       value("P",
                                                             [&options](const std::string& given) {
                                                                 options.method.measure.p =
                                                                     parse_number("--p", given, min_p, max_p);
                                                             }),
                                                       "the exponent of --metric lp, 0.1 to 15")(
            "weights", choice("--weights", "NAME", options.method.vote.weights),
            "uniform (default), or distance: a vote counts 1/d^2")(
            "tie", choice("--tie", "NAME", options.method.vote.tie),
            "ties go to the smallest label (default) or to the class of the nearest neighbor")(
            "device", value("NAME", [&wish](const std::string& given) { wish.device = device_wish(given); }),
            "auto (default: a GPU if there is one, else the CPU), cpu, gpu, gpu:N, several as gpu:N,M, or "
            "gpu:all")(
            "spread", choice("--spread", "NAME", wish.spread),
            "several devices or ranks: each has the whole training set and some of the queries, or "
            "a part of the training set and all queries: auto (default), queries or training")(
            "memory",
            value("SIZE", [&wish](const std::string& given) { wish.memory = parse_size("--memory", given); }),
            "the most memory of a device for training images, such as 500M or 8G; more are searched part by "
            "part")("limit-train", number("--limit-train", options.first.train, 1, unlimited),
                    "only the first N training images")(
            "limit-test", number("--limit-test", options.first.test, 1, unlimited),
            "only the first N test images")("batch", number("--batch", wish.batch, 1, unlimited),
                                            "test images per batch (default: what fits in memory)")(
            "threads", number("--threads", wish.threads, 1, max_threads), "CPU threads (default: all)");
    return group;
}

void add_search_options(OptionGroup& group, Options& options, const std::set<std::string>& except,
                        const char* usual_method) {
    const OptionGroup all = search_group(options, usual_method);
    for (const auto& option : all.list.options())
        if (!except.contains(option->long_name())) group.list.add(option);
}

OptionGroup classify_search_group(Options& options) {
    OptionGroup group{"Search", {}};
    add_search_options(group, options, {"limit-test"}, "accurate");
    return group;
}

OptionGroup training_group(Options& options) {
    const OptionGroup all = data_group(options);
    OptionGroup group{"Data", {}};
    for (const auto& option : all.list.options())
        if (!option->long_name().starts_with("test-")) group.list.add(option);
    return group;
}

OptionGroup bench_search_group(Options& options) {
    OptionGroup all = search_group(options), group{"Search", {}};
    const auto take = [&](std::initializer_list<const char*> names) {
        for (const auto& option : all.list.options())
            for (const char* name : names)
                if (option->long_name() == name) group.list.add(option);
    };
    take({""});  // -k
    Wish& wish = options.wish;
    group.list.add_options()  //
        ("engine", engine_value(wish), "only this engine")(
            "distance", strategy("--distance", wish.distance, nameable_distances),
            "the distance kernel whose output selectors are measured on (default: float4, or the first "
            "that supports the metric)")(
            "select", strategy("--select", wish.select, selectors),
            "the selector that runs after each distance kernel (default: bitonic_topk)");
    take({"metric", "p", "device", "threads"});
    return group;
}

void check_options(const Options& options) {
    const TuneOptions& tune = options.tune;
    const bool has_p = options.given.contains("p");
    const bool needs_p =
        options.method.measure.metric == Metric::lp ||
        std::find(tune.metrics.begin(), tune.metrics.end(), Metric::lp) != tune.metrics.end();
    if (needs_p && !has_p && options.given.contains("metric"))
        throw UsageError("--metric lp: has no exponent; expected --p P with it, 0.1 to 15, such as --p 3");
    const Method& method = options.method;
    if (options.given.contains("candidates") && method.reranks() && method.rerank.candidates < method.vote.k)
        throw UsageError("--candidates " + std::to_string(method.rerank.candidates) + ": fewer than -k " +
                         std::to_string(method.vote.k) + "; expected at least as many");
    if (method.vote.votes == Votes::class_mean && !is_integral(method.neighbor_measure().metric))
        throw UsageError(std::string("--vote class-mean: adds up integers, which distances by ") +
                         name(method.neighbor_measure().metric) +
                         " are not; expected --metric l2 or l1, or a re-ranker");
    if (has_p && !needs_p)
        throw UsageError("--p: only --metric lp has an exponent; expected --metric lp with it");
}

std::size_t parse_strategy_name(std::string_view option, std::string_view text,
                                std::span<const std::string> names) {
    const bool known = std::find(names.begin(), names.end(), text) != names.end();
    if (!known && distance_kernels().empty() && nearest_name(text, names).empty())
        throw UsageError(as_given(option, text) +
                         ": unknown to this build, which has no GPU kernels; expected " + one_of(names) +
                         ", or a build with CUDA");
    return parse_name(option, text, names);
}

}  // namespace knn
