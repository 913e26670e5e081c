#include "app/report/tune_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "app/report/json.h"
#include "app/report/plot.h"
#include "app/report/text.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

std::string images_text(const TuneResult& result) {
    return counted(result.images, "training image") + " of " + std::to_string(result.rows) + " x " +
           std::to_string(result.cols) + ", " + std::to_string(result.classes) + ' ' +
           noun(result.classes, "class");
}

std::string share_text(const TuneResult& result, std::int64_t errors) {
    return percent(static_cast<double>(errors) / static_cast<double>(result.images));
}

std::string p_text(double p) {
    return p < 0.0005 ? "< 0.001" : fixed(p, 3);
}

std::string rerank_text(const Rerank& rerank) {
    if (rerank.kind == Reranker::none) return "none";
    return reranker_text(rerank) + " of " + std::to_string(rerank.candidates);
}

std::vector<std::string> row_text(const TuneResult& result, const Configuration& one) {
    const VotingRule& vote = one.method.vote;
    const bool weighs = vote.votes == Votes::majority;
    return {one.as_good_as_best ? "*" : "",
            with_commas(one.errors),
            share_text(result, one.errors),
            percent(one.share.low) + " to " + percent(one.share.high),
            p_text(one.p_value),
            std::to_string(vote.k),
            name(vote.votes),
            weighs ? name(vote.weights) : "",
            name(vote.tie),
            one.method.transform.text(),
            metric_text(one.method.measure),
            rerank_text(one.method.rerank)};
}

using Json = nlohmann::ordered_json;

/// The parts of a method with the names that report.json has for them.
Json method_json(const Method& method) {
    Json json = settings_json(method, {});
    for (const char* of_plan : {"engine", "distance", "select", "device", "threads", "batch"})
        json.erase(of_plan);
    return json;
}

Json configuration_json(const TuneResult& result, const Configuration& one) {
    Json json = {{"errors", one.errors},
                 {"error", static_cast<double>(one.errors) / static_cast<double>(result.images)},
                 {"error_low", one.share.low},
                 {"error_high", one.share.high},
                 {"p_value", one.p_value},
                 {"as_good_as_best", one.as_good_as_best}};
    json.update(method_json(one.method));
    return json;
}

std::string kind_text(const VotingRule& vote) {
    std::string text = name(vote.votes);
    if (vote.votes == Votes::majority && vote.weights == Weights::distance) text += ", 1/d^2";
    return text + (vote.tie == Tie::nearest ? ", tie nearest" : "");
}

Panel panel_of(const TuneResult& result, std::size_t search) {
    Panel panel;
    panel.title = search_text(result.searches[search]);
    panel.x_label = "neighbors, k";
    panel.y_label = "errors, leave-one-out";
    panel.log_x = panel.log_y = false;
    std::map<std::tuple<Votes, Weights, Tie>, std::map<int, const Configuration*>> kinds;
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

}  // namespace

std::string search_text(const Method& method) {
    std::string text = method.transform.text() + ", " + metric_text(method.measure);
    if (method.reranks()) text += ", " + rerank_text(method.rerank) + " candidates";
    return text;
}

std::string options_text(const Method& method) {
    const Method usual;
    std::string text;
    const auto add = [&](const char* option, const std::string& value) {
        text.append(text.empty() ? "" : " ").append(option).append(" ").append(value);
    };
    if (!method.transform.is_raw()) add("--transform", method.transform.text());
    if (method.measure.metric != usual.measure.metric) add("--metric", name(method.measure.metric));
    if (method.measure.metric == Metric::lp) add("--p", shortest(method.measure.p));
    if (method.reranks()) add("--rerank", reranker_text(method.rerank));
    if (method.rerank.candidates != usual.rerank.candidates)
        add("--candidates", std::to_string(method.rerank.candidates));
    if (method.vote.votes != usual.vote.votes) add("--vote", name(method.vote.votes));
    add("-k", std::to_string(method.vote.k));
    if (method.vote.weights != usual.vote.weights) add("--weights", name(method.vote.weights));
    if (method.vote.tie != usual.vote.tie) add("--tie", name(method.vote.tie));
    return text;
}

std::string tune_line(const TuneResult& result) {
    const Configuration& best = result.configurations.front();
    return options_text(best.method) + ": " + counted(best.errors, "error") + " of " +
           with_commas(result.images) + " (" + share_text(result, best.errors) + ", 95 % interval " +
           percent(best.share.low) + " to " + percent(best.share.high) + ") by leave-one-out\n";
}

std::string tune_text(const TuneResult& result, std::int64_t limit) {
    Table head({Align::left, Align::left});
    head.add({"data", images_text(result)});
    head.add({"source", harmless(result.source)});
    head.add({"device", device_text(result.plan.device)});
    head.add({"engine", engine_text(result.plan)});
    for (std::size_t i = 0; i < result.searches.size(); ++i)
        head.add({i == 0 ? "searches" : "", search_text(result.searches[i]) + ": the nearest " +
                                                std::to_string(result.searches[i].vote.k)});
    head.add({"tried", counted(std::ssize(result.configurations), "configuration") + ", k = " +
                           std::to_string(result.range.low) + " to " + std::to_string(result.range.high)});
    head.add({"time", times_text(result.search_ms, result.load_ms, result.wall_ms)});

    using enum Align;
    Table table({left, right, right, left, right, right, left, left, left, left, left, left});
    table.add({"", "errors", "share", "95 % interval", "p", "k", "vote", "weights", "tie", "transform",
               "metric", "rerank"});
    const std::int64_t shown = std::min(limit, std::ssize(result.configurations));
    for (std::int64_t i = 0; i < shown; ++i)
        table.add(row_text(result, result.configurations[static_cast<std::size_t>(i)]));
    const std::int64_t good = std::count_if(result.configurations.begin(), result.configurations.end(),
                                            [](const Configuration& one) { return one.as_good_as_best; });
    std::string text = head.text(0) + '\n' + table.text(0);
    if (shown < std::ssize(result.configurations))
        text +=
            "... and " + with_commas(std::ssize(result.configurations) - shown) + " more (--limit, --csv)\n";
    return text + "\n* as good as the best: McNemar's exact test does not tell them apart (p >= " +
           fixed(significance, 2) + "); " + with_commas(good) + " of " +
           with_commas(std::ssize(result.configurations)) + "\nbest: " + tune_line(result);
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
    Json json = json_head("mnist-knn/tune/1");
    json.update({{"created", result.created},
                 {"data",
                  {{"source", result.source},
                   {"synthetic", result.synthetic},
                   {"count", result.images},
                   {"rows", result.rows},
                   {"cols", result.cols},
                   {"classes", result.classes}}},
                 {"device", json_device(result.plan.device)},
                 {"searches", std::move(searches)},
                 {"configurations", std::move(configurations)},
                 {"timing", timing_json(result.timeline, result.images, result.search_ms, result.load_ms,
                                        result.wall_ms)}});
    return json_text(json);
}

std::string tune_csv(const TuneResult& result) {
    std::string text =
        "errors,error,error_low,error_high,p_value,as_good_as_best,transform,metric,p,rerank,candidates,vote,"
        "k,"
        "weights,tie\n";
    for (const Configuration& one : result.configurations) {
        const Method& method = one.method;
        const bool is_lp = method.measure.metric == Metric::lp;
        text += std::to_string(one.errors) + ',' +
                shortest(static_cast<double>(one.errors) / static_cast<double>(result.images)) + ',' +
                shortest(one.share.low) + ',' + shortest(one.share.high) + ',' + shortest(one.p_value) + ',' +
                (one.as_good_as_best ? "yes" : "no") + ",\"" + method.transform.text() + "\"," +
                name(method.measure.metric) + ',' + (is_lp ? shortest(method.measure.p) : "") + ',' +
                reranker_text(method.rerank) + ',' + std::to_string(method.rerank.candidates) + ',' +
                name(method.vote.votes) + ',' + std::to_string(method.vote.k) + ',' +
                name(method.vote.weights) + ',' + name(method.vote.tie) + '\n';
    }
    return text;
}

std::string tune_plot(const TuneResult& result) {
    std::vector<Panel> panels;
    for (std::size_t search = 0; search < result.searches.size(); ++search)
        panels.push_back(panel_of(result, search));
    panels.front().notes.push_back(
        "Filled: McNemar's test does not tell it from the best of all. Small k follows single images, large "
        "k "
        "blurs the classes.");
    const Configuration& best = result.configurations.front();
    return draw_panels("Errors over k",
                       {counted(result.images, "image") + ", each left out once; " + result.source,
                        "best: " + options_text(best.method) + ", " + counted(best.errors, "error")},
                       panels);
}

}  // namespace knn
