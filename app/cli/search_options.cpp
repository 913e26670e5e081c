#include <algorithm>
#include <set>
#include <sstream>

#include "app/cli/option_kinds.h"
#include "app/cli/option_table.h"
#include "app/cli/values.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/core/problem.h"
#include "data/file/transfer.h"

namespace knn {

namespace {

using Text = const std::string&;

constexpr int max_threads = 4096;

std::vector<std::string> engine_names() {
    std::vector<std::string> names = names_of(engines());
    names.emplace_back(fastest_engine);
    return names;
}

/// "WHAT: a, b or c".
std::string list_of(const std::string& what, const std::vector<Strategy>& table) {
    return what + (table.empty() ? " (none in this build)" : ": " + one_of(names_of(table)));
}

/// The strategies that `bench` measures behind or before each other.
OptionValue measured_strategy(const std::vector<Strategy>& table, std::string& target) {
    std::vector<std::string> names;
    for (const Strategy& one : table)
        if (one.on_gpu) names.emplace_back(one.name);
    return once("NAME", target,
                [names](Text option, Text value) { return parse_strategy(option, value, names); });
}

/// The kernels of `classic`, which the help lists, and those of `tensor`.
std::string parse_distance(Text option, Text value) {
    std::vector<std::string> names = names_of(distance_kernels());
    for (std::string& kernel : names_of(tensor_kernels()))
        names.push_back(std::move(kernel));
    return parse_strategy(option, value, names);
}

/// "auto", "cpu", "gpu", "gpu:all", or "gpu:" and numbers separated by commas.
DeviceRequest parse_device(Text option, Text value) {
    const std::array<std::string, 5> names = {"auto", "cpu", "gpu", "gpu:all", "gpu:N"};
    DeviceRequest request{DeviceKind::gpu};
    if (value == names[3]) {
        request.all = true;
        return request;
    }
    // Never the last two, which begin so.
    if (!value.starts_with("gpu:"))
        return {static_cast<DeviceKind>(parse_name(option, value, names)), std::nullopt};
    std::istringstream numbers(value.substr(std::string("gpu:").size()) + ',');
    for (std::string text; std::getline(numbers, text, ',');) {
        const auto number = static_cast<int>(parse_integer(option + " gpu:N with N =", text, 0, 1023));
        if (number == request.number || std::count(request.others.begin(), request.others.end(), number) > 0)
            throw UsageError(as_given(option, value) + ": names a GPU twice; expected each once");
        if (request.number)
            request.others.push_back(number);
        else
            request.number = number;
    }
    return request;
}

/// Numbers and ranges: "1,3,5-15".
void read_range(Text option, Text value, VoteRange& range) try {
    std::set<int> all;
    std::istringstream parts(value + ',');
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t dash = part.find('-', 1);
        const std::int64_t low = parse_integer(option, part.substr(0, dash), 1, max_k);
        const bool is_range = dash != std::string::npos;
        const std::int64_t high = is_range ? parse_integer(option, part.substr(dash + 1), low, max_k) : low;
        for (const int k : all_k(static_cast<int>(low), static_cast<int>(high)))
            all.insert(k);
    }
    range.k.assign(all.begin(), all.end());
} catch (const UsageError&) {  // of one part, which says less than the whole
    throw UsageError(as_given(option, value) +
                     ": no list of numbers; expected numbers and ascending ranges, 1 to " +
                     std::to_string(max_k) + ", such as 7, 1-30 or 1,3,5-15");
}

}  // namespace

Method parse_method(const std::string& given, Options& options) {
    if (!is_method_file(given)) return methods()[parse_name("--method", given, names_of(methods()))].method;
    options.method_files.emplace_back(parse_input("--method", given));
    return parse_method_text(
        read_text(given, max_method_bytes, "a method that 'mnist-knn tune --save' wrote"), given);
}

std::vector<Option> search_options(Options& o) {
    constexpr const char* all = "evaluate classify draw serve view bench graph neighbors condense audit tune";
    constexpr const char* searching = "evaluate classify draw serve view graph neighbors condense audit tune";
    constexpr const char* voting = "evaluate classify draw serve view condense";
    constexpr const char* reranking = "evaluate classify draw serve view condense audit";
    constexpr const char* with_transform = "evaluate classify draw serve view graph neighbors condense audit";
    constexpr const char* with_metric =
        "evaluate classify draw serve view bench graph neighbors condense audit";
    constexpr const char* instead = "instead of the method's; may be repeated";
    Method& m = o.method;
    TuneOptions& t = o.tune;
    PlanRequest& w = o.request;
    const auto read_method = [&](Text, Text value) { return parse_method(value, o); };
    const OptionValue method = once("NAME|FILE", m, read_method), engine = name_of(engine_names(), w.engine),
                      distance = once("NAME", w.distance, parse_distance),
                      select = once("NAME", w.select, [](Text option, Text value) {
                          return parse_strategy(option, value, names_of(selectors()));
                      });
    const std::string methods_text = "a whole classifier: " + one_of(names_of(methods())) +
                                     ", or a FILE of tune --save (default ",
                      overriding = "); options beside it, in any order, override its parts";
    const std::string first_images = "only the first N training images",
                      with_extra = "; those of --extra come on top";
    const std::string candidates =
        "number of nearest neighbors that are re-ranked, or vote by class-mean, 10 to 1024 (default 96";
    return {
        {"evaluate view graph condense", "--method", method, methods_text + "raw" + overriding},
        {"classify draw serve", "--method", method, methods_text + "accurate" + overriding},
        {"audit", "--method", method, methods_text + "accurate, of vectors raw" + overriding},
        {"tune", "--method", several("NAME|FILE", t.methods, read_method),
         "a method, or a FILE of --save, without its vote (default raw); may be repeated"},
        {with_transform, "--transform", once("LIST", m.transform, parse_transform),
         "what is compared: " + transform_names() +
             "; several one after another, with commas (default: the method's; neighbors: none)"},
        {"tune", "--transform", several("LIST", t.transforms, parse_transform), instead},
        {reranking, "--rerank", once("NAME", m.rerank, read_reranker),
         "none; distortion, cells or both: re-ranks the nearest by a distance that tolerates shifted pixels; "
         "spread[:N:mean|deviation:times|plus:W]: by distances scaled by how far an image lies from its "
         "class"},
        {"tune", "--rerank", several("NAME", t.rerankers, read_reranker), instead},
        {reranking, "--candidates", number(m.rerank.candidates, min_candidates, max_candidates),
         candidates + ", or -k if that is more)"},
        {"tune", "--candidates", number(t.candidates, min_candidates, max_candidates),
         candidates + "; by class-mean without --rerank at least k)"},
        {voting, "--vote", choice(m.vote.votes),
         "majority, or class-mean: the class whose nearest k candidates are nearest on average"},
        {"tune", "--vote", once("NAME", t.range.votes, parse_choice<VoteKind>),
         "only majority, or only class-mean (default: both)"},
        {"evaluate classify draw serve view condense audit", "-k", number(m.vote.k, 1, max_k),
         "neighbors, 1 to 16384 (default 5, accurate: 4); tensor finds up to 1024"},
        {"bench", "-k", number(m.vote.k, 1, max_device_k), "neighbors, 1 to 1024 (default 5)"},
        {"graph neighbors", "-k", number(m.vote.k, 1, max_k),
         "neighbors of each image or row, 1 to 16384 (default 10, or all of fewer); tensor finds up to 1024"},
        {"tune", "-k", once("RANGE", t.range, read_range),
         "the numbers of neighbors to try, up to 16384: 7, 1-30 (default) or 1,3,5-15"},
        {searching, "--engine", engine,
         one_of(engine_names()) + " (default " + default_engine +
             "); auto: the fastest on the device; a named GPU engine needs a GPU"},
        {"bench", "--engine", name_of(names_of(engines()), w.engine), "only this engine"},
        {searching, "--distance", distance, list_of("another distance kernel", distance_kernels())},
        {"bench", "--distance", measured_strategy(distance_kernels(), w.distance),
         "the distance kernel whose output selectors are measured on (default: float4, or the first that "
         "supports the metric)"},
        {searching, "--select", select, list_of("another selector", selectors())},
        {"bench", "--select", measured_strategy(selectors(), w.select),
         "the selector that runs after each distance kernel (default: bitonic_topk)"},
        {with_metric, "--metric", choice(m.measure.metric), "l2 (default), l1, lp, cosine or pearson"},
        {"tune", "--metric", several("NAME", t.metrics, parse_choice<Metric>), instead},
        {all, "--p",
         once("P", m.measure.p,
              [](Text option, Text value) { return parse_number(option, value, min_p, max_p); }),
         "the exponent of --metric lp, 0.1 to 15"},
        {voting, "--weights", choice(m.vote.weights), "uniform (default), or distance: a vote counts 1/d^2"},
        {"tune", "--weights", once("NAME", t.range.weights, parse_choice<Weights>),
         "only uniform, or only distance (default: both)"},
        {voting, "--tie", choice(m.vote.tie),
         "ties go to the smallest label (default) or to the class of the nearest neighbor"},
        {"tune", "--tie", once("NAME", t.range.tie, parse_choice<Tie>),
         "only smallest, or only nearest (default: both)"},
        {all, "--device", once("NAME", w.device, parse_device),
         "auto (default: a GPU if there is one, else the CPU), cpu, gpu, gpu:N, several as gpu:N,M, or "
         "gpu:all"},
        {searching, "--spread", choice(w.placement),
         "several devices or ranks: each has the whole training set and some of the queries, or a part of "
         "the training set and all queries: auto (default), queries or training"},
        {searching, "--memory", once("SIZE", w.memory, parse_size),
         "limit of device memory for training images, such as 500M or 8GB; a larger training set is searched "
         "in parts"},
        {"evaluate classify draw serve view", "--limit-train", number(o.first.train),
         first_images + with_extra},
        {"graph condense audit tune", "--limit-train", number(o.first.train, 2),
         first_images + ", at least 2" + with_extra},
        {"evaluate serve view audit", "--limit-test", number(o.first.test), "only the first N test images"},
        {searching, "--sketch", choice(w.sketch, "WHEN"),
         "bounds from 8-bit projections before exact distances by l2, on a CPU also by cosine and pearson: "
         "auto (default; where that is faster, "
         "on a GPU in searches of a second or more), off, or the number of columns, 64 or 128, of a GPU 128; "
         "changes no answer"},
        {searching, "--batch", number(w.batch), "test images per batch (default: what fits in memory)"},
        {"evaluate classify draw serve view bench graph neighbors condense audit tune generate", "--threads",
         number(w.threads, 1, max_threads), "CPU threads (default: all)"},
    };
}

void check_options(const Options& options, bool votes) {
    const TuneOptions& tune = options.tune;
    const Method& method = options.method;
    const auto is_given = [&](const char* option) { return options.given.contains(option); };
    const bool needs_p = method.measure.metric == Metric::lp ||
                         std::count(tune.metrics.begin(), tune.metrics.end(), Metric::lp) > 0;
    if (needs_p && !is_given("p") && is_given("metric"))
        throw UsageError("--metric lp: has no exponent; expected --p P with it, 0.1 to 15, such as --p 3");
    if (is_given("p") && !needs_p)
        throw UsageError("--p: only --metric lp has an exponent; expected --metric lp with it");
    if (is_given("label-column") && is_given("train-labels") && options.data.label_column != "none")
        throw UsageError(
            "--label-column and --train-labels: both say where the labels are; expected one of them");
    const bool class_mean = votes && tune.range.votes.value_or(method.vote.votes) == VoteKind::class_mean;
    if (class_mean && is_given("weights"))
        throw UsageError("--weights: --vote class-mean weighs no votes; expected --vote majority with it");
    if (tune.candidates == 0 && is_given("candidates")) {  // tune checks those of its methods itself
        const bool may_count = votes && is_integral(method.measure);
        if (!method.reranks() && !class_mean)
            throw UsageError("--candidates: nothing orders or counts candidates; expected --rerank " +
                             std::string(may_count ? "or --vote class-mean " : "") + "with it");
        if (!method.reranks() && method.rerank.candidates < method.vote.k)
            throw UsageError("-k " + std::to_string(method.vote.k) + ": more than the " +
                             std::to_string(method.rerank.candidates) +
                             " candidates that vote; expected at most as many, or no --candidates");
    }
    if (method.reranks()) check_candidates(method.rerank.candidates, method.vote.k);
    if (class_mean && !is_integral(method.neighbor_measure()))
        throw UsageError(std::string("--vote class-mean: adds up integers, which distances by ") +
                         name(method.neighbor_measure().metric) +
                         " are not; expected --metric l2 or l1, or a re-ranker");
}

void check_candidates(int candidates, int k) {
    if (k > max_candidates)
        throw UsageError("-k " + std::to_string(k) + ": a re-ranker takes no more than " +
                         with_commas(max_candidates) +
                         " candidates; expected at most as many, or --rerank none");
    if (candidates < k)
        throw UsageError("-k " + std::to_string(k) + ": more than the " + std::to_string(candidates) +
                         " candidates that are re-ranked; expected at most as many, or --candidates " +
                         std::to_string(k));
}

bool names_data(const Options& options) {
    const auto& given = options.given;
    return std::any_of(given.begin(), given.end(), [](const std::string& option) {
        return option == "data" || option == "train" || option == "test" || option == "extra" ||
               option.ends_with("-images") || option.ends_with("-labels");
    });
}

std::string parse_strategy(const std::string& option, const std::string& text,
                           const std::vector<std::string>& names) {
    if (names.empty())
        throw UsageError(as_given(option, text) +
                         ": this build has no GPU kernels; expected a build with CUDA" +
                         (option == "--distance" ? ", or MNIST_KNN_ISA in the environment for the CPU's "
                                                   "instruction set"
                                                 : ""));
    const bool known = std::find(names.begin(), names.end(), text) != names.end();
    if (!known && distance_kernels().empty() && nearest_name(text, names).empty())
        throw UsageError(as_given(option, text) +
                         ": unknown to this build, which has no GPU kernels; expected " + one_of(names) +
                         ", or a build with CUDA");
    return names[parse_name(option, text, names)];
}

const std::vector<OptionNeed>& option_needs() {
    static const std::vector<OptionNeed> needs = {
        {"audit", "--seed", "--plant N"},
        {"audit", "--test --test-images --test-labels --limit-test", "--of test"},
        {"compare",
         "--data --train --test --label-column --train-images --train-labels --test-images --test-labels",
         "--html FILE"},
        {"classify", "--pixels --json-version", "--json FILE"},
        {"classify", "--report", "--expected"},
        {"neighbors", "--npz", "--range R"},
        {"", "--test --label-column", "--train FILE"},
    };
    return needs;
}

const std::vector<OptionConflict>& option_conflicts() {
    static constexpr const char* in_report =
        "--method --transform --rerank --candidates --vote -k --metric --p --weights --tie --limit-train "
        "--limit-test";
    static constexpr const char* kinds = "--many --numbers --grid --template";
    static const std::vector<OptionConflict> conflicts = {
        {"view", "--from", in_report, "the report determines it"},
        {"serve", "--report", "--limit-test", "the report determines it"},
        {"classify", kinds, kinds, "both tell what is in a picture"},
        {"classify", "--expected", kinds, "a page has many digits"},
        {"neighbors", "--exclude-self", "--queries", "the queries are not the rows of --train"},
        {"neighbors", "-k", "--range", "both say how many neighbors a query has"},
        {"neighbors", "--npy --ibin", "--range",
         "a range has any number of rows; --csv and --npz write them"},
        {"bench", "--dim",
         "--data --train --test --extra --train-images --train-labels --test-images --test-labels",
         "random images come from no file"},
        {"bench", "--extra", "--n-train",
         "only the first training images are searched, and those of --extra follow all"},
        {"", "--images --train --test", "--extra", "--extra adds to the images of --data"},
        {"", "--train --test --images", "--data --train-images --test-images", "both say where the data are"},
        {"", "--images", "--train --train-labels", "both say where the data are"},
    };
    return conflicts;
}

void check_needs(std::string_view command, const GivenValues& given) {
    const auto key = [](const std::string& word) { return word.starts_with("--") ? word.substr(2) : word; };
    const auto is_given = [&](const std::string& word) { return given.contains(key(word)); };
    const auto concerns = [&](const char* commands) {
        const std::vector<std::string> names = words_of(commands);
        return names.empty() || std::ranges::count(names, command) > 0;
    };
    for (const OptionConflict& conflict : option_conflicts())
        for (const std::string& one : words_of(concerns(conflict.commands) ? conflict.options : ""))
            for (const std::string& other : words_of(conflict.others))
                if (one != other && is_given(one) && is_given(other))
                    throw UsageError(one + " and " + other + ": " + conflict.reason +
                                     "; expected one of them");
    for (const OptionNeed& need : option_needs())
        for (const std::string& option : words_of(concerns(need.commands) ? need.options : "")) {
            const std::vector<std::string> needed = words_of(need.needed);
            const bool is_value = needed.size() > 1 && std::islower(needed[1][0]) != 0;
            const auto found = given.find(key(needed[0]));
            if (is_given(option) && (found == given.end() || (is_value && found->second.back() != needed[1])))
                throw UsageError(option + ": has no effect without " + need.needed + "; expected " +
                                 (is_value ? need.needed : needed[0]) + " with it");
        }
}

}  // namespace knn
