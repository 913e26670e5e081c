#include "app/report/text.h"

#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

std::string data_text(const Evaluation& evaluation) {
    const Dataset& data = *evaluation.data;
    const std::int64_t n_classes = std::ssize(data.labels);
    return harmless(data.name) + ": " + std::to_string(evaluation.n_train) + " training and " +
           std::to_string(evaluation.n_test) + " test " + noun(evaluation.n_test, "image") + " of " +
           std::to_string(data.train.rows) + " x " + std::to_string(data.train.cols) + ", " +
           std::to_string(n_classes) + ' ' + noun(n_classes, "class");
}

std::string head_text(const Evaluation& evaluation) {
    const Plan& plan = evaluation.found.plan;
    Table head({Align::left, Align::left});
    head.add({"data", data_text(evaluation)});
    head.add({"source", harmless(evaluation.data->source)});
    head.add({"device", device_text(plan.device)});
    if (const std::string spread = spread_text(plan); !spread.empty()) head.add({"spread", spread});
    head.add({"engine", engine_text(plan)});
    head.add({"settings", settings_text(evaluation.method)});
    return head.text(0);
}

std::string classes_text(const Score& score) {
    Table table({Align::right, Align::right, Align::right, Align::right, Align::right});
    table.add({"class", "precision", "recall", "f1", "support"});
    double precision = 0, recall = 0, f1 = 0;
    for (const ClassScore& one : score.per_class) {
        table.add({std::to_string(one.label), fixed(one.precision, 4), fixed(one.recall, 4), fixed(one.f1, 4),
                   std::to_string(one.support)});
        precision += one.precision;
        recall += one.recall;
        f1 += one.f1;
    }
    const auto n = static_cast<double>(score.per_class.size());
    table.add({"mean", fixed(precision / n, 4), fixed(recall / n, 4), fixed(f1 / n, 4),
               std::to_string(score.total)});
    return table.text();
}

}  // namespace

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
        text += (text.empty() ? "" : ", ") + std::string("at most ") + with_commas(plan.memory) + ' ' +
                noun(plan.memory, "byte") + " of training images at once";
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

std::string accuracy_line(const Score& score) {
    return "accuracy " + percent(score.accuracy) + ": " + std::to_string(score.correct) + " of " +
           std::to_string(score.total) + " right (95 % interval " + percent(score.accuracy_low) + " to " +
           percent(score.accuracy_high) + ")\n";
}

std::string text_report(const Evaluation& evaluation, bool color) {
    std::string accuracy = accuracy_line(evaluation.score);
    if (color) accuracy = "\x1b[1m" + accuracy.substr(0, accuracy.size() - 1) + "\x1b[0m\n";
    return head_text(evaluation) + '\n' + accuracy + '\n' + confusion_text(evaluation.score, color) + '\n' +
           classes_text(evaluation.score) + '\n' + timing_text(evaluation);
}

}  // namespace knn
