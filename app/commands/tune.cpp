#include "classifier/tune.h"

#include <algorithm>
#include <ostream>
#include <set>

#include "app/cli/command.h"
#include "app/commands/loading.h"
#include "app/commands/outputs.h"
#include "app/commands/ranks.h"
#include "app/console/destinations.h"
#include "app/console/notes.h"
#include "app/console/output.h"
#include "app/console/watched.h"
#include "app/report/tune_report.h"
#include "classifier/method_file.h"
#include "classifier/subset_search.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

template <class Value>
std::vector<Value> or_own(const std::vector<Value>& given, const Value& own) {
    return given.empty() ? std::vector{own} : given;
}

/// Each method with each transform, metric and re-ranker, without votes; none twice.
std::vector<Method> methods_to_search(const Options& options) {
    const TuneOptions& tune = options.tune;
    std::vector<Method> all;
    for (const Method& base : or_own(tune.methods, Method{}))
        for (const TransformSpec& transform : or_own(tune.transforms, base.transform))
            for (const Metric metric : or_own(tune.metrics, base.measure.metric))
                for (const Rerank& reranker : or_own(tune.rerankers, base.rerank)) {
                    Method method = base;
                    method.vote = {};
                    method.transform = transform;
                    if (!tune.metrics.empty()) method.measure = {metric, options.method.measure.p};
                    method.rerank.kind = reranker.kind;
                    method.rerank.spread = reranker.spread;
                    if (tune.candidates > 0) method.rerank.candidates = tune.candidates;
                    if (std::find(all.begin(), all.end(), method) == all.end()) all.push_back(method);
                }
    return all;
}

/// Leaves out the methods that have none of the votes to try: those of `class-mean` are of integer distances.
void leave_out_unsuitable(std::vector<Method>& methods, const Options& options) {
    const VoteRange& range = options.tune.range;
    std::string left_out;
    std::erase_if(methods, [&](const Method& method) {
        const bool none = vote_kinds(range, method).empty();
        if (none) left_out += (left_out.empty() ? "" : "; ") + search_text(method);
        return none;
    });
    if (methods.empty())
        throw UsageError("--vote class-mean: adds up integers, which distances by " + left_out +
                         " are not; expected --metric l2 or l1, or a re-ranker");
    if (!left_out.empty())
        note("--vote class-mean: left out, because their distances are not integers: " + left_out,
             options.output);
    const auto counts_candidates = [&](const Method& method) {
        const std::vector<VoteKind> kinds = vote_kinds(range, method);
        return method.reranks() || std::any_of(kinds.begin(), kinds.end(), [](const VoteKind& kind) {
                   return kind.votes == Votes::class_mean;
               });
    };
    if (options.tune.candidates > 0 && std::none_of(methods.begin(), methods.end(), counts_candidates))
        throw UsageError(
            "--candidates: nothing orders or counts candidates; expected --rerank or --vote class-mean with "
            "it");
}

/// The largest k that a method can be tried with: a re-ranker knows no more neighbors than its candidates, and would take
/// more of them for a larger k, which changes the answers of all smaller ones.
int largest_k(const Method& method, std::int64_t n_train) {
    const std::int64_t most = method.reranks() ? method.rerank.candidates : max_k;
    return static_cast<int>(std::min(most, n_train - 1));
}

/// The range for all methods. Without -k it ends where one method ends.
VoteRange range_for(const Options& options, std::span<const Method> methods, std::int64_t n_train) {
    VoteRange range = options.tune.range;
    require_others(1, n_train);
    for (const Method& method : methods) {
        const int most = largest_k(method, n_train);
        if (range.high > most && options.given.contains("-k"))
            throw UsageError("-k " + std::to_string(range.high) + ": " + search_text(method) + " of " +
                             with_commas(n_train) + " images has fewer neighbors; expected at most " +
                             std::to_string(most));
        range.high = std::min(range.high, most);
    }
    return range;
}

/// A plan for each search. What several of them would note is printed once.
std::vector<Resolved> resolve_all(LoadedSet& set, Planner& planner, std::span<const Method> methods,
                                  const Wish& wish) {
    const Training& training = set.training().view();
    std::vector<Resolved> all = {set.resolve(planner, methods.front(), training.rows.count)};
    std::set<std::string> notices = {all.front().notice};
    for (const Method& method : methods.subspan(1)) {
        Planner another(wish);
        all.push_back(another.resolve(method.problem(training, training.rows.count)));
        if (notices.insert(all.back().notice).second) note(all.back().notice);
    }
    return all;
}

void note_lonely(std::span<const std::uint8_t> labels, const OutputOptions& output) {
    if (std::set(labels.begin(), labels.end()).size() == 1)
        note("all images have one label: nothing has to be told apart", output);
    std::string list;
    const std::vector<std::uint8_t> lonely = lonely_labels(labels);
    for (const std::uint8_t label : lonely)
        list += (list.empty() ? "" : ", ") + std::to_string(label);
    if (!lonely.empty())
        note((lonely.size() == 1 ? "label " : "labels ") + list +
                 ": one image each, which is always wrong when it is left out",
             output);
}

TuneResult searched(const TrainingSet& training, std::span<const Method> methods,
                    std::span<const Resolved> resolved, const VoteRange& range, const OutputOptions& output) {
    const std::int64_t n = training.size();
    std::vector<TunedSearch> searches;
    for (const Method& method : methods)
        searches.emplace_back(method, range, n);
    TuneResult result;
    const auto start = Clock::now();
    watched(output, "searching", [&](const Watch& watch) {
        for (std::size_t i = 0; i < searches.size(); ++i) {
            const Index index(training, searches[i].searched(), resolved[i], watch.quiet());
            result.timeline.add(index.opening());
            const std::int64_t before = static_cast<std::int64_t>(i) * n, all = std::ssize(searches) * n;
            result.plan = searches[i].run(index, result.timeline, watch.part(before, all));
            result.searches.push_back(searches[i].searched());
        }
    });
    result.configurations = ranked(searches, n);
    result.search_ms = ms_since(start);
    result.range = range;
    return result;
}

void write_files(const TuneResult& result, const Options& options) {
    const TuneOptions& tune = options.tune;
    const Configuration& best = result.configurations.front();
    const std::string comment = "chosen by 'mnist-knn tune': " + std::to_string(best.errors) + ' ' +
                                noun(best.errors, "error") + " of " + std::to_string(result.images) +
                                " by leave-one-out, " + result.source;
    write_results({{tune.save, [&](std::ostream& out) { out << method_text(best.method, comment); }},
                   {options.output.json, [&](std::ostream& out) { out << tune_json(result); }},
                   {tune.csv, [&](std::ostream& out) { out << tune_csv(result); }},
                   {tune.plot, [&](std::ostream& out) { out << tune_plot(result); }}},
                  options.output.quiet ? tune_line(result) : tune_text(result, tune.limit));
}

}  // namespace

int tune(const Options& options, Clock::time_point start) {
    const TuneOptions& tune = options.tune;
    for (const NamedMethod& known : methods())
        if (tune.save == known.name)
            throw UsageError("--save " + tune.save +
                             ": is what --method calls a method of the program; expected " +
                             "another name, or ./" + tune.save);
    const Destinations outputs(options);
    Planner planner(options.wish);  // looks for GPUs in the background
    const ImagesLocation location = locate_images(options, Needed::training);
    outputs.check(inputs_of(options, location.files()));

    LoadedSet set(planner, location, options);
    const Training& training = set.training().view();
    std::vector<Method> methods = methods_to_search(options);
    leave_out_unsuitable(methods, options);
    const VoteRange range = range_for(options, methods, training.rows.count);
    std::vector<Method> opened;
    for (const Method& method : methods)
        opened.push_back(TunedSearch(method, range, training.rows.count).searched());
    const std::vector<Resolved> resolved = resolve_all(set, planner, opened, options.wish);
    note_lonely(training.labels, options.output);
    agree_on({training.rows}, training.labels);

    TuneResult result = searched(set.training(), methods, resolved, range, options.output);
    result.created = utc_now();
    result.source = location.data.source;
    result.synthetic = location.data.synthetic;
    result.images = training.rows.count;
    result.rows = training.shape.rows;
    result.cols = training.shape.cols;
    result.classes = static_cast<int>(std::set(training.labels.begin(), training.labels.end()).size());
    result.load_ms = set.load_ms();
    result.wall_ms = ms_since(start);
    write_files(result, options);
    return 0;
}

}  // namespace knn
