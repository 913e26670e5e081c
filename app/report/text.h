#pragma once
/// The report for people, on a terminal or in a pipe.

#include <string>

#include "classifier/evaluation.h"

namespace knn {

/// Everything: data set, device, settings, accuracy, confusion matrix, classes, times.
std::string text_report(const Evaluation& evaluation, bool color);

/// What -q prints: one line with the accuracy.
std::string accuracy_line(const Score& score);

/// The confusion matrix, rows true and columns predicted; with more classes than fit a screen, the pairs that
/// were mistaken most often instead.
std::string confusion_text(const Score& score, bool color);

/// One line for each stage, and the sums.
std::string timing_text(const Evaluation& evaluation);

}  // namespace knn
