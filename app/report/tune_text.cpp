#include <algorithm>

#include "app/report/text.h"
#include "app/report/tune_report.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

std::string images_text(const TuneResult& result) {
    return with_commas(result.images) + " training " + noun(result.images, "image") + " of " +
           std::to_string(result.rows) + " x " + std::to_string(result.cols) + ", " +
           std::to_string(result.classes) + ' ' + noun(result.classes, "class");
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
    return options_text(best.method) + ": " + with_commas(best.errors) + ' ' + noun(best.errors, "error") +
           " of " + with_commas(result.images) + " (" + share_text(result, best.errors) + ", 95 % interval " +
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
    head.add({"tried", with_commas(std::ssize(result.configurations)) + ' ' +
                           noun(std::ssize(result.configurations), "configuration") + ", k = " +
                           std::to_string(result.range.low) + " to " + std::to_string(result.range.high)});
    head.add({"time", "search " + fixed(result.search_ms, 1) + " ms, load " + fixed(result.load_ms, 1) +
                          " ms, whole run " + fixed(result.wall_ms, 1) + " ms"});

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

}  // namespace knn
