#pragma once
/// The report for people, and the phrases that all reports have in common.

#include <string>

#include "classifier/evaluation.h"

namespace knn {

/// "1,234 images", "1 image".
std::string counted(std::int64_t count, const std::string& one);

/// "search 1.2 ms, load 3.4 ms, whole run 5.6 ms".
std::string times_text(double search_ms, double load_ms, double wall_ms);

/// Text for HTML and SVG, on one line.
std::string escaped(const std::string& text);

/// Everything: data set, device, settings, accuracy, confusion matrix, classes, times.
std::string text_report(const Evaluation& evaluation, bool color);

/// The output of -q: one line with the accuracy.
std::string accuracy_line(const Score& score);

/// The confusion matrix, rows true and columns predicted; with too many classes for a screen, the most
/// frequent confusions instead.
std::string confusion_text(const Score& score, bool color);

/// All of a method: "transform gradients, k = 5, metric l2, weights uniform, tie smallest".
std::string settings_text(const Method& method);

/// A device, an engine with its kernels, and a metric in one line each.
std::string device_text(const Device& device);
std::string engine_text(const Plan& plan);
std::string metric_text(const Measure& measure);

/// How several devices or ranks share the search; empty for one.
std::string spread_text(const Plan& plan);
/// How much longer the slowest of them searched; empty for one.
std::string imbalance_text(const Timeline& timeline);

/// What settings begin with: "transform LIST, ", or nothing if pixels are compared.
std::string features_text(const TransformSpec& transform);

/// One line per stage, and the sums.
std::string timing_text(const Evaluation& evaluation);

struct Reduced;

/// What `condense` reports.
struct ReducedReport {
    const Reduced& reduced;
    const Method& method;
    std::int64_t images;  ///< before
    std::string source, folder;
    double wall_ms;
};
std::string reduced_text(const ReducedReport& report);

}  // namespace knn
