#include "app/report/text.h"

#include "app/cli/options.h"
#include "app/report/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

std::string device_text(const Device& device, const Settings& settings) {
    std::string text = device.name + " (" + settings.device + ")";
    if (!device.compute_capability.empty()) text += ", compute capability " + device.compute_capability;
    if (device.memory_bytes > 0) text += ", " + gibibytes(device.memory_bytes);
    if (!device.driver.empty()) text += ", CUDA driver " + device.driver;
    if (!device.runtime.empty()) text += ", runtime " + device.runtime;
    return text;
}

std::string engine_text(const Settings& settings, const Device& device) {
    std::string text = settings.engine;
    if (!settings.distance.empty()) text += ", distance " + settings.distance;
    if (!settings.select.empty()) text += ", select " + settings.select;
    if (settings.batch > 0) text += ", batch " + std::to_string(settings.batch);
    if (device.kind == Device::Kind::cpu) text += ", threads " + std::to_string(settings.threads);
    return text;
}

std::string metric_text(const Settings& settings) {
    if (settings.metric != name(Metric::lp)) return settings.metric;
    return settings.metric + " with p = " + shortest(settings.p);
}

std::string settings_text(const Settings& settings) {
    return "k = " + std::to_string(settings.k) + ", metric " + metric_text(settings) + ", weights " +
           settings.weights + ", tie " + settings.tie;
}

std::string data_text(const Evaluation& evaluation) {
    const Dataset& data = *evaluation.data;
    const std::int64_t n_classes = std::ssize(data.labels);
    return harmless(data.name) + ": " + std::to_string(evaluation.n_train) + " training and " +
           std::to_string(evaluation.n_test) + " test " + noun(evaluation.n_test, "image") + " of " +
           std::to_string(data.train.rows) + " x " + std::to_string(data.train.cols) + ", " +
           std::to_string(n_classes) + ' ' + noun(n_classes, "class");
}

std::string head_text(const Evaluation& evaluation) {
    const Device& device = evaluation.found.device;
    Table head({Align::left, Align::left});
    head.add({"data", data_text(evaluation)});
    head.add({"source", harmless(evaluation.data->source)});
    head.add({"device", device_text(device, evaluation.settings)});
    head.add({"engine", engine_text(evaluation.settings, device)});
    head.add({"settings", settings_text(evaluation.settings)});
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
