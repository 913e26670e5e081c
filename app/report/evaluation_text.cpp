#include <algorithm>
#include <functional>
#include <span>

#include "app/report/text.h"
#include "data/core/format.h"

namespace knn {

namespace {

std::string classes_text(const Score& score) {
    Table table({Align::right, Align::right, Align::right, Align::right, Align::right});
    table.add({"class", "precision", "recall", "f1", "support"});
    double precision = 0, recall = 0, f1 = 0;
    for (const ClassScore& one : score.per_class) {
        table.add({class_text(score.class_name(one.label)), fixed(one.precision, 4), fixed(one.recall, 4),
                   fixed(one.f1, 4), std::to_string(one.support)});
        precision += one.precision;
        recall += one.recall;
        f1 += one.f1;
    }
    const auto n = static_cast<double>(score.per_class.size());
    table.add({"mean", fixed(precision / n, 4), fixed(recall / n, 4), fixed(f1 / n, 4),
               std::to_string(score.total)});
    return table.text();
}

constexpr std::size_t max_matrix_classes = 26;  // the letters; more do not fit in a line
constexpr std::size_t max_pairs = 20;
constexpr std::size_t most_letters = 10;  // of a class, in the matrix

/// A mistake, and how often it was made.
struct Confusion {
    std::int64_t count;
    std::uint8_t truth, predicted;
};

/// The most frequent first.
std::vector<Confusion> confusions(const Score& score) {
    std::vector<Confusion> all;
    for (std::size_t t = 0; t < score.labels.size(); ++t)
        for (std::size_t p = 0; p < score.labels.size(); ++p)
            if (t != p && score.confusion[t][p] > 0)
                all.push_back({score.confusion[t][p], score.labels[t], score.labels[p]});
    std::ranges::stable_sort(all, std::greater(), &Confusion::count);
    return all;
}

/// One count in its column. Without color a zero is a dot, to make the errors visible.
std::string cell(std::int64_t count, bool hit, std::int64_t worst, std::size_t width, bool color) {
    const char* style = count == 0           ? ansi::dim
                        : hit                ? ansi::green
                        : 2 * count >= worst ? ansi::bold_red
                                             : ansi::red;
    return styled(aligned_right(count > 0 ? std::to_string(count) : ".", width), style, color);
}

std::string matrix_text(const Score& score, bool color) {
    std::vector<std::string> names;
    std::size_t width = 3, side = 5;  // of every column; numbers are no wider
    for (const std::uint8_t label : score.labels) {
        names.push_back(class_text(score.class_name(label), most_letters));
        width = std::max(width, names.back().size());
        side = std::max(side, names.back().size());
    }
    for (const auto& row : score.confusion)
        for (const std::int64_t count : row)
            width = std::max(width, std::to_string(count).size());
    const std::vector<Confusion> mistakes = confusions(score);
    const std::int64_t worst = mistakes.empty() ? 0 : mistakes.front().count;
    std::string text = "  true \\ predicted\n  " + aligned_right("", side);
    for (const std::string& name : names)
        text += "  " + aligned_right(name, width);
    text += '\n';
    for (std::size_t t = 0; t < score.labels.size(); ++t) {
        text += "  " + aligned_right(names[t], side);
        for (std::size_t p = 0; p < score.labels.size(); ++p)
            text += "  " + cell(score.confusion[t][p], t == p, worst, width, color);
        text += '\n';
    }
    return text;
}

std::string pairs_text(const Score& score) {
    const std::vector<Confusion> mistakes = confusions(score);
    const std::string classes = std::to_string(score.labels.size());
    // The page of --report has no matrix of so many classes.
    const std::string where = "--json, and in confusion.png of --report";
    if (mistakes.empty())
        return "  no misclassifications; the matrix of " + classes + " classes is in " + where + '\n';
    std::string text =
        "  most frequent confusions; the full matrix of " + classes + " classes is in " + where + '\n';
    Table table({Align::right, Align::right, Align::right});
    table.add({"true", "predicted", "count"});
    for (const auto& [count, truth, predicted] :
         std::span(mistakes).first(std::min(mistakes.size(), max_pairs)))
        table.add({class_text(score.class_name(truth)), class_text(score.class_name(predicted)),
                   std::to_string(count)});
    return text + table.text();
}

/// The share of the limit that the stage is closest to: "85 % of arithmetic". Empty if no limit is known, or
/// if the stage is faster than it (tensor cores than float32 arithmetic, a cache than memory).
std::string share_of_peak(const Stage& stage, const Device& device) {
    const auto share = [](double rate, double peak) { return peak > 0 && rate <= peak ? rate / peak : 0; };
    const double memory = share(
        stage.gb_per_s(), stage.kind == StageKind::copy ? device.peak_link_gb_per_s : device.peak_gb_per_s);
    const double arithmetic = share(stage.gflop_per_s(), device.peak_gflop_per_s);
    if (memory <= 0 && arithmetic <= 0) return "";
    const char* limit = arithmetic > memory             ? " of arithmetic"
                        : stage.kind == StageKind::copy ? " of link"
                                                        : " of memory";
    return percent(std::max(memory, arithmetic), 0) + limit;
}

std::string rate_text(double value) {
    return value > 0 ? short_number(value) : "";
}

}  // namespace

std::string accuracy_line(const Score& score) {
    return "accuracy " + percent(score.accuracy) + ": " + with_commas(score.correct) + " of " +
           with_commas(score.total) + " right (95 % interval " + percent(score.accuracy_low) + " to " +
           percent(score.accuracy_high) + ")\n";
}

std::string text_report(const Evaluation& evaluation, bool color) {
    const Dataset& data = *evaluation.data;
    const Plan& plan = evaluation.found.plan;
    const std::int64_t n_classes = std::ssize(data.labels);
    const std::string images = harmless(data.name) + ": " + with_commas(evaluation.n_train) +
                               " training and " + counted(evaluation.n_test, "test " + row_noun(data)) +
                               " of " + row_text(data) + ", " + counted(n_classes, "class");
    std::string accuracy = accuracy_line(evaluation.score);
    accuracy.pop_back();
    return facts_text({{"data", images},
                       {"source", harmless(data.source)},
                       {"device", device_text(plan.device)},
                       {"spread", spread_text(plan)},
                       {"engine", engine_text(plan)},
                       {"settings", settings_text(evaluation.method)}}) +
           '\n' + styled(accuracy, ansi::bold, color) + "\n\n" + confusion_text(evaluation.score, color) +
           '\n' + classes_text(evaluation.score) + '\n' + timing_text(evaluation);
}

std::string confusion_text(const Score& score, bool color) {
    return score.labels.size() <= max_matrix_classes ? matrix_text(score, color) : pairs_text(score);
}

std::string timing_text(const Evaluation& evaluation) {
    const Results& found = evaluation.found;
    const auto images = static_cast<double>(std::max<std::int64_t>(evaluation.n_test, 1));
    const auto line = [&](const std::string& name, const std::string& launches, double ms) {
        return std::vector<std::string>{name, launches, fixed(ms, 2), fixed(ms / images, 5)};
    };
    const bool peaks = found.plan.device.peak_gb_per_s > 0 || found.plan.device.peak_gflop_per_s > 0;
    Table table(
        {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right, Align::right});
    table.add({"stage", "launches", "total ms", "ms/image", "GB/s", "GFLOP/s", peaks ? "of the peak" : ""});
    double confidence_ms = 0;  // which is no part of the search
    for (const Stage& stage : found.timeline.stages()) {
        if (stage.name == "confidence") {
            confidence_ms = stage.total_ms;
            continue;
        }
        std::vector<std::string> cells = line(stage.name, std::to_string(stage.launches), stage.total_ms);
        cells.insert(cells.end(), {rate_text(stage.gb_per_s()), rate_text(stage.gflop_per_s()),
                                   share_of_peak(stage, found.plan.device)});
        table.add(std::move(cells));
    }
    table.add({});
    table.add(line("kernels", "", found.timeline.kernels_ms()));
    table.add(line("search", "", found.search_ms));
    table.add(line("load", "", evaluation.load_ms));
    if (confidence_ms > 0) table.add(line("confidence", "", confidence_ms));
    const double named_ms = found.search_ms + evaluation.load_ms + confidence_ms;
    table.add(line("other", "", std::max(evaluation.wall_ms - named_ms, 0.0)));
    table.add(line("whole run", "", evaluation.wall_ms));
    const std::string imbalance = imbalance_text(found.timeline);
    return table.text() + (imbalance.empty() ? "" : "\n  imbalance: " + imbalance + '\n');
}

}  // namespace knn
