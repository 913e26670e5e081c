#include "app/report/text.h"

#include "classifier/reduce.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

std::string edited_text(const Edited& edited) {
    std::string rounds;
    std::int64_t all = 0;
    for (const std::int64_t removed : edited.removed) {
        rounds += (rounds.empty() ? "" : " + ") + with_commas(removed);
        all += removed;
    }
    if (all == 0) return "nothing to remove: no leave-one-out errors";
    return "removed " + counted(all, "image") + " that the others classify wrong, round by round " + rounds;
}

std::string condensed_text(const Reduced& reduced) {
    std::string text = "kept " + counted(std::ssize(reduced.kept), "image") + " in " +
                       counted(reduced.passes.passes, "pass");
    if (reduced.passes.refits > 0)
        text += " and " + counted(reduced.passes.refits, "check") + " with what is fitted on them";
    return text + "; they classify all" +
           (reduced.rule == ReduceRule::both ? " images of the edited set" : "") + " as before";
}

}  // namespace

std::string counted(std::int64_t count, const std::string& one) {
    return with_commas(count) + ' ' + noun(count, one);
}

std::string times_text(double search_ms, double load_ms, double wall_ms) {
    return "search " + fixed(search_ms, 1) + " ms, load " + fixed(load_ms, 1) + " ms, whole run " +
           fixed(wall_ms, 1) + " ms";
}

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : harmless(text)) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '"')
            result += "&quot;";
        else
            result += c;
    }
    return result;
}

std::string settings_text(const Method& method) {
    std::string text = features_text(method.transform);
    if (method.reranks())
        text += reranker_text(method.rerank) + " of " + std::to_string(method.rerank.candidates) +
                " candidates, ";
    if (method.vote.votes != Votes::majority) text += std::string("vote ") + name(method.vote.votes) + ", ";
    return text + "k = " + std::to_string(method.vote.k) + ", metric " + metric_text(method.measure) +
           ", weights " + name(method.vote.weights) + ", tie " + name(method.vote.tie);
}

std::string device_text(const Device& device) {
    std::string text = device.name + " (" + device_id(device) + ")";
    if (!device.compute_capability.empty()) text += ", compute capability " + device.compute_capability;
    if (device.memory_bytes > 0) text += ", " + gibibytes(device.memory_bytes);
    if (!device.driver.empty()) text += ", CUDA driver " + device.driver;
    if (!device.runtime.empty()) text += ", runtime " + device.runtime;
    return text;
}

std::string engine_text(const Plan& plan) {
    std::string text = plan.engine;
    if (!plan.distance.empty()) text += ", distance " + plan.distance;
    if (!plan.select.empty()) text += ", select " + plan.select;
    if (plan.batch > 0) text += ", batch " + std::to_string(plan.batch);
    if (plan.device.kind == Device::Kind::cpu) text += ", threads " + std::to_string(plan.threads);
    return text;
}

std::string spread_text(const Plan& plan) {
    std::string text;
    if (plan.spread != SpreadBy::automatic) text = std::string(name(plan.spread)) + " over ";
    if (plan.ranks > 1) text += std::to_string(plan.ranks) + " ranks";
    for (const Device& device : plan.devices)
        text += (&device == plan.devices.data() ? "" : ", ") + device_id(device);
    if (plan.memory > 0)
        text += (text.empty() ? "" : ", ") + std::string("at most ") + counted(plan.memory, "byte") +
                " of training images at once";
    return text;
}

std::string imbalance_text(const Timeline& timeline) {
    if (timeline.device_ms().empty()) return "";
    return "of " + std::to_string(timeline.device_ms().size()) + " the slowest took " +
           percent(timeline.imbalance(), 1) + " above the mean";
}

std::string features_text(const TransformSpec& transform) {
    return transform.is_raw() ? "" : "transform " + transform.text() + ", ";
}

std::string metric_text(const Measure& measure) {
    const std::string metric = name(measure.metric);
    return measure.metric == Metric::lp ? metric + " with p = " + shortest(measure.p) : metric;
}

std::string reduced_text(const ReducedReport& report) {
    const Reduced& reduced = report.reduced;
    Table table({Align::left, Align::left});
    table.add({"data", counted(report.images, "image") + " from " + harmless(report.source)});
    table.add({"settings", settings_text(report.method)});
    if (reduced.rule != ReduceRule::condense) table.add({"edited", edited_text(reduced.edited)});
    if (reduced.rule != ReduceRule::edit) table.add({"condensed", condensed_text(reduced)});
    const double share = static_cast<double>(reduced.kept.size()) / static_cast<double>(report.images);
    table.add({"kept", counted(std::ssize(reduced.kept), "image") + ", " + percent(share) + ", in " +
                           harmless(report.folder)});
    table.add({"time", fixed(report.wall_ms / 1000, 1) + " s"});
    return table.text(0);
}

}  // namespace knn
