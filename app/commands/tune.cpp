#include "classifier/tune.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <tuple>

#include "app/cli/command_line.h"
#include "app/commands/loading.h"
#include "app/commands/ranks.h"
#include "app/console/console.h"
#include "app/report/json.h"
#include "app/report/plot.h"
#include "app/report/text.h"
#include "classifier/host.h"
#include "data/core/format.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

struct TuneResult : SelfSearch {
    VoteRange range = {};
    std::vector<Method> searches = {};  ///< the k of each is the number of neighbors searched
    std::vector<Configuration> configurations = {};

    std::int64_t classes() const {
        return std::ssize(std::set(training().labels.begin(), training().labels.end()));
    }
};

std::string rerank_text(const RerankSpec& rerank) {
    if (rerank.kind == RerankKind::none) return "none";
    return reranker_text(rerank) + " of " + std::to_string(rerank.candidates);
}

/// What a search compares: "gradients, l2, both of 96 candidates".
std::string search_text(const Method& method) {
    std::string text = method.transform.text() + ", " + metric_text(method.measure);
    if (method.reranks()) text += ", " + rerank_text(method.rerank) + " candidates";
    return text;
}

/// The parts of a method by their options, in the order of the CSV; the exponent is empty where there is none.
std::vector<std::pair<const char*, std::string>> parts_of(const Method& method) {
    const VotingRule& vote = method.vote;
    return {{"--transform", method.transform.text()},
            {"--metric", name(method.measure.metric)},
            {"--p", method.measure.metric == Metric::lp ? shortest(method.measure.p) : ""},
            {"--rerank", reranker_text(method.rerank)},
            {"--candidates", std::to_string(method.candidates())},
            {"--vote", name(vote.votes)},
            {"-k", std::to_string(vote.k)},
            {"--weights", name(vote.weights)},
            {"--tie", name(vote.tie)}};
}

/// The options that give a method: "--transform gradients -k 3".
std::string options_text(const Method& method) {
    const auto parts = parts_of(method), usual = parts_of({});
    const int implied = Method{.vote = method.vote}.candidates();  // without the option
    const bool counts_candidates = method.reranks() || method.vote.votes == VoteKind::class_mean;
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& [option, value] = parts[i];
        if (option == std::string_view("--candidates") &&
            (!counts_candidates || method.candidates() == implied))
            continue;
        if (value != usual[i].second || option == std::string_view("-k"))
            text.append(text.empty() ? "" : " ").append(option).append(" ").append(value);
    }
    return text;
}

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
                for (const RerankSpec& reranker : or_own(tune.rerankers, base.rerank)) {
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
        throw UsageError(
            "--vote class-mean: adds up integers, which distances by " + left_out +
            " are not; expected --metric l2 or l1 of rows of uint8, a re-ranker, or --vote majority");
    if (!left_out.empty())
        note("--vote class-mean: left out, because their distances are not integers: " + left_out,
             options.output);
    const auto counts_candidates = [&](const Method& method) {
        const std::vector<VotingRule> kinds = vote_kinds(range, method);
        return method.reranks() || std::ranges::count(kinds, VoteKind::class_mean, &VotingRule::votes) > 0;
    };
    if (options.tune.candidates > 0 && std::ranges::none_of(methods, counts_candidates))
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
    const bool given = options.given.contains("-k");
    require_others(given ? range.k.back() : 1, n_train);
    for (const Method& method : methods) {
        if (given && method.reranks()) check_candidates(method.rerank.candidates, range.k.back());
        const int most = largest_k(method, n_train);
        std::erase_if(range.k, [&](int k) { return k > most; });
    }
    return range;
}

void note_lonely(std::span<const std::uint8_t> labels, const Dataset& data, const OutputOptions& output) {
    const std::string rows = row_noun(data);
    if (std::set(labels.begin(), labels.end()).size() == 1)
        note("all " + rows + "s have one label: nothing has to be told apart", output);
    const std::vector<std::uint8_t> lonely = lonely_labels(labels);
    const std::string list = joined(lonely, [&](std::uint8_t label) { return data.class_name(label); });
    if (!lonely.empty())
        note((lonely.size() == 1 ? "label " : "labels ") + list + ": one " + rows +
                 (lonely.size() == 1 ? "" : " each") + ", which is always wrong when it is left out",
             output);
}

void search_all(TuneResult& result, std::vector<TunedSearch> searches, std::span<const Resolved> resolved,
                const OutputOptions& output) {
    const std::int64_t n = result.images(), all = std::ssize(searches) * n;
    std::int64_t tried = 0;
    for (const TunedSearch& search : searches)
        tried += std::ssize(search.configurations());
    require_memory(tried * divide_up(n, 8), [&] {  // a bit for each image
        return "trying " + counted(tried, "configuration") + " on " + counted(n, row_noun(result.set.data()));
    });
    const auto start = Clock::now();
    with_progress(output, "searching", [&](const ProgressToken& token) {
        for (std::size_t i = 0; i < searches.size(); ++i) {
            const Index index(result.set.training(), searches[i].searched(), resolved[i], token.quiet());
            result.timeline.add(index.opening());
            result.plan =
                searches[i].run(index, result.timeline, token.part(std::ssize(result.searches) * n, all));
            result.searches.push_back(searches[i].searched());
        }
        result.configurations = ranked(std::move(searches), n, token);
    });
    result.search_ms = ms_since(start);
}

std::string interval_text(const Configuration& one) {
    return percent(one.share.low) + " to " + percent(one.share.high);
}

double error_of(const TuneResult& result, const Configuration& one) {
    return static_cast<double>(one.errors) / static_cast<double>(result.images());
}

std::vector<std::string> row_text(const TuneResult& result, const Configuration& one) {
    const VotingRule& vote = one.method.vote;
    const bool weighs = vote.votes == VoteKind::majority;
    return {one.as_good_as_best ? "*" : "",
            with_commas(one.errors),
            share_text(one.errors, result.images()),
            interval_text(one),
            one.p_value < 0.0005 ? "< 0.001" : p_text(one.p_value),
            std::to_string(vote.k),
            name(vote.votes),
            weighs ? name(vote.weights) : "",
            name(vote.tie),
            one.method.transform.text(),
            metric_text(one.method.measure),
            rerank_text(one.method.rerank)};
}

std::string tune_line(const TuneResult& result) {
    const Configuration& best = result.configurations.front();
    return options_text(best.method) + ": " + counted(best.errors, "error") + " of " +
           with_commas(result.images()) + " (" + share_text(best.errors, result.images()) +
           ", 95 % interval " + interval_text(best) + ") by leave-one-out\n";
}

/// "1, 3, 5 to 15".
std::string ranges_text(const std::vector<int>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::size_t first = i;
        while (i + 1 < numbers.size() && numbers[i + 1] == numbers[i] + 1)
            ++i;
        text += (text.empty() ? "" : ", ") + std::to_string(numbers[first]);
        if (i > first) text += " to " + std::to_string(numbers[i]);
    }
    return text;
}

/// Without those that get the same images wrong as an earlier one of their search.
std::vector<const Configuration*> different(const std::vector<Configuration>& all) {
    const auto before = [](const Configuration* a, const Configuration* b) {
        return std::tie(a->search, a->wrong) < std::tie(b->search, b->wrong);
    };
    std::set<const Configuration*, decltype(before)> seen(before);
    std::vector<const Configuration*> some;
    for (const Configuration& one : all)
        if (seen.insert(&one).second) some.push_back(&one);
    return some;
}

/// The table of the first `limit` different configurations, the best first.
std::string tune_text(const TuneResult& result, std::int64_t limit) {
    Facts facts = {{"data", counted(result.images(), "training " + row_noun(result.set.data())) + " of " +
                                row_text(result.set.data()) + ", " + counted(result.classes(), "class")},
                   {"source", harmless(result.source())},
                   {"device", device_text(result.plan.device)},
                   {"engine", engine_text(result.plan)}};
    for (const Method& search : result.searches)
        facts.emplace_back(&search == result.searches.data() ? "searches" : "",
                           search_text(search) + ": the nearest " + std::to_string(search.vote.k));
    facts.emplace_back("tried", counted(std::ssize(result.configurations), "configuration") +
                                    ", k = " + ranges_text(result.range.k));
    facts.emplace_back("time", times_text(result.search_ms, result.set.load_ms(), result.wall_ms));

    using enum Align;
    Table table({left, right, right, left, right, right, left, left, left, left, left, left});
    table.add({"", "errors", "share", "95 % interval", "p", "k", "vote", "weights", "tie", "transform",
               "metric", "rerank"});
    const std::vector<const Configuration*> lines = different(result.configurations);
    const std::int64_t shown = std::min(limit, std::ssize(lines));
    for (const Configuration* one : std::span(lines).first(static_cast<std::size_t>(shown)))
        table.add(row_text(result, *one));
    const std::int64_t good =
        std::ranges::count(result.configurations, true, &Configuration::as_good_as_best);
    std::string text = facts_text(facts) + '\n' + table.text(0);
    if (shown < std::ssize(lines))
        text += "... and " + with_commas(std::ssize(lines) - shown) + " more (--limit, --csv)\n";
    return text +
           "\nConfigurations of one search that get the same images wrong share a line, that of the first.\n"
           "p: how likely two equally good classifiers are to differ at least as much as this one and the "
           "best\n"
           "(McNemar's exact test)\n"
           "* as good as the best: p >= " +
           fixed(significance, 2) + "; " + with_commas(good) + " of " +
           counted(std::ssize(result.configurations), "configuration") + "\nbest: " + tune_line(result);
}

/// The parts of a method with the names that report.json has for them.
Json method_json(const Method& method) {
    Json json = settings_json(method, {});
    for (const char* of_plan : {"engine", "distance", "select", "device", "threads", "sketch", "batch"})
        json.erase(of_plan);
    return json;
}

Json configuration_json(const TuneResult& result, const Configuration& one) {
    Json json = {{"errors", one.errors},       {"error", error_of(result, one)},
                 {"error_low", one.share.low}, {"error_high", one.share.high},
                 {"p_value", one.p_value},     {"as_good_as_best", one.as_good_as_best}};
    json.update(method_json(one.method));
    return json;
}

std::string tune_json(const TuneResult& result) {
    Json searches = Json::array(), configurations = Json::array();
    for (const Method& method : result.searches) {
        Json one = method_json(method);
        for (const char* of_votes : {"method", "vote", "weights", "tie"})
            one.erase(of_votes);
        searches.push_back(std::move(one));
    }
    for (const Configuration& one : result.configurations)
        configurations.push_back(configuration_json(result, one));
    Json data = {{"source", report_path(result.source())},
                 {"synthetic", result.set.data().synthetic},
                 {"count", result.images()}};
    put_shape(data, result.set.data());
    data["classes"] = result.classes();
    Json json = json_head("mnist-knn/tune/1");
    json.update({{"created", utc_now()},
                 {"data", std::move(data)},
                 {"device", json_device(result.plan.device)},
                 {"searches", std::move(searches)},
                 {"configurations", std::move(configurations)},
                 {"timing", timing_json(result.timeline, result.images(), result.search_ms,
                                        result.set.load_ms(), result.wall_ms)}});
    return json_text(json);
}

std::string tune_csv(const TuneResult& result) {
    std::string text =
        "errors,error,error_low,error_high,p_value,as_good_as_best,transform,metric,p,rerank,candidates,vote,"
        "k,weights,tie\n";
    for (const Configuration& one : result.configurations) {
        text += std::to_string(one.errors) + ',' + shortest(error_of(result, one)) + ',' +
                shortest(one.share.low) + ',' + shortest(one.share.high) + ',' + shortest(one.p_value) + ',' +
                (one.as_good_as_best ? "yes" : "no");
        for (const auto& [option, value] : parts_of(one.method))
            text += option == std::string_view("--transform") ? ",\"" + value + '"' : ',' + value;
        text += '\n';
    }
    return text;
}

std::string kind_text(const VotingRule& vote) {
    std::string text = name(vote.votes);
    if (vote.votes == VoteKind::majority && vote.weights == Weights::distance) text += ", 1/d^2";
    return text + (vote.tie == Tie::nearest ? ", tie nearest" : "");
}

Panel panel_of(const TuneResult& result, std::size_t search) {
    Panel panel = {search_text(result.searches[search]), "neighbors, k", "errors, leave-one-out", false,
                   false};
    std::map<std::tuple<VoteKind, Weights, Tie>, std::map<int, const Configuration*>> kinds;
    for (const Configuration& one : result.configurations)
        if (one.search == search) {
            const VotingRule& vote = one.method.vote;
            kinds[{vote.votes, vote.weights, vote.tie}][vote.k] = &one;
        }
    for (const auto& [kind, by_k] : kinds) {
        PlotLine& line = panel.lines.emplace_back();
        for (const auto& [k, one] : by_k) {
            line.name = kind_text(one->method.vote);
            const auto errors = static_cast<double>(one->errors);
            line.points.push_back({static_cast<double>(k), errors, errors, errors, !one->as_good_as_best});
        }
    }
    return panel;
}

/// An SVG of errors over k: a panel for each search, a line for each kind of vote.
std::string tune_plot(const TuneResult& result) {
    std::vector<Panel> panels;
    for (std::size_t search = 0; search < result.searches.size(); ++search)
        panels.push_back(panel_of(result, search));
    panels.front().notes.push_back(
        "Filled: McNemar's test does not tell it from the best of all. Small k follows single images, large "
        "k blurs the classes.");
    const Configuration& best = result.configurations.front();
    return draw_panels(
        "Errors over k",
        {counted(result.images(), row_noun(result.set.data())) + ", each left out once; " + result.source(),
         "best: " + options_text(best.method) + ", " + counted(best.errors, "error")},
        panels);
}

}  // namespace

int tune(const Options& options, Clock::time_point start) {
    const TuneOptions& tune = options.tune;
    for (const NamedMethod& known : methods())
        if (tune.save == known.name)
            throw UsageError("--save " + tune.save +
                             ": is what --method calls a method of the program; expected " +
                             "another name, or ./" + tune.save);
    LoadedSet set(options, Needed::training);
    const Training& training = set.training().view();
    std::vector<Method> methods = methods_to_search(options);
    for (Method& method : methods)
        method = set.method(method);
    leave_out_unsuitable(methods, options);
    const VoteRange range = range_for(options, methods, training.rows.count);
    std::vector<TunedSearch> searches;
    for (const Method& method : methods)
        searches.emplace_back(method, range, training.rows.count);
    std::vector<Resolved> resolved;
    for (const TunedSearch& search : searches)
        resolved.push_back(set.resolve(search.searched(), training.rows.count));
    note_lonely(training.labels, set.data(), options.output);
    agree_on(training);

    TuneResult result{SelfSearch(set)};
    result.range = range;
    search_all(result, std::move(searches), resolved, options.output);
    result.wall_ms = ms_since(start);
    const Configuration& best = result.configurations.front();
    const std::string comment = "chosen by 'mnist-knn tune': " + counted(best.errors, "error") + " of " +
                                with_commas(result.images()) + " by leave-one-out, " + result.source();
    write_results({{tune.save, [&](std::ostream& out) { out << method_text(best.method, comment); }},
                   {options.output.json, [&](std::ostream& out) { out << tune_json(result); }},
                   {tune.csv, [&](std::ostream& out) { out << tune_csv(result); }},
                   {tune.plot, [&](std::ostream& out) { out << tune_plot(result); }}},
                  options.output.quiet ? tune_line(result) : tune_text(result, tune.limit));
    return 0;
}

}  // namespace knn
