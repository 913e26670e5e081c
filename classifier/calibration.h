#pragma once
/// Calibration: of answers with a confidence of 90 %, nine in ten should be right.

#include <cstdint>
#include <span>
#include <vector>

namespace knn {

/// Answers whose confidences lie in one of 15 intervals of equal width.
struct CalibrationBin {
    double low = 0, high = 0;  ///< low <= confidence < high; the last one includes 1
    std::int64_t count = 0;
    double confidence = 0, accuracy = 0;  ///< means; 0 if there are no answers
};

struct Calibration {
    /// Σ count · |accuracy − confidence| / all answers; 0 if there are none.
    double expected_calibration_error = 0;
    std::vector<CalibrationBin> bins;
};

/// `right`: 1 or 0 for each answer.
Calibration calibration(std::span<const double> confidences, std::span<const std::uint8_t> right);

/// How many wrong answers are left if the least confident are rejected.
struct LeftErrors {
    std::int64_t rejected = 0, errors = 0;
};

/// One entry for nothing rejected, one for each wrong answer that is rejected, and one for everything rejected. Among
/// equal confidences the wrong answers are rejected last.
std::vector<LeftErrors> left_errors(std::span<const double> confidences, std::span<const std::uint8_t> right);

}  // namespace knn
