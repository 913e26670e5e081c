#include "app/report/trust_plot.h"

#include <cmath>

#include "app/report/plot.h"
#include "classifier/calibration.h"
#include "classifier/statistics.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr double max_rejected = 0.1;  ///< of the digits, in the diagram

Panel reliability(const Evaluation& evaluation, std::span<const std::uint8_t> right) {
    const Calibration found = calibration(evaluation.confidence, right);
    Panel panel{
        .title = "How often answers are right that are so sure",
        .x_label = "mean confidence, %",
        .y_label = "right, %",
        .log_x = false,
        .log_y = false,
        .lines = {{"answers", {}}, {"if confidences were exact", {{0, 0, 0, 0}, {100, 100, 100, 100}}}},
        .bars = {},
        .notes = {"expected calibration error " + percent(found.expected_calibration_error, 2) +
                  " in 15 equal intervals"}};
    for (const CalibrationBin& bin : found.bins) {
        if (bin.count == 0) continue;
        const Interval between = wilson_interval(std::llround(bin.accuracy * double(bin.count)), bin.count);
        panel.lines[0].points.push_back(
            {100 * bin.confidence, 100 * bin.accuracy, 100 * between.low, 100 * between.high});
    }
    return panel;
}

Panel errors_left(const Evaluation& evaluation, std::span<const std::uint8_t> right) {
    Panel panel{.title = "Errors left if the least sure answers are rejected",
                .x_label = "rejected, % of the answers",
                .y_label = "errors left",
                .log_x = false,
                .log_y = false,
                .lines = {{"errors", {}}},
                .bars = {},
                .notes = {}};
    const auto n = static_cast<double>(right.size());
    for (const LeftErrors& one : left_errors(evaluation.confidence, right)) {
        if (double(one.rejected) > max_rejected * n) break;
        const auto errors = static_cast<double>(one.errors);
        panel.lines[0].points.push_back({100 * double(one.rejected) / n, errors, errors, errors});
    }
    return panel;
}

}  // namespace

Drawing trust_plot(const Evaluation& evaluation) {
    const std::vector<std::uint8_t> right = right_answers(evaluation);
    if (right.empty()) return {};
    return draw_panels("Confidence", {}, {reliability(evaluation, right), errors_left(evaluation, right)});
}

}  // namespace knn
