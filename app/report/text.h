#pragma once
/// The human-readable report.

#include <string>

#include "classifier/evaluation.h"

namespace knn {

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

}  // namespace knn
