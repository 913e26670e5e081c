#include "classifier/calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace knn {

namespace {
constexpr std::size_t n_bins = 15;
}

Calibration calibration(std::span<const double> confidences, std::span<const std::uint8_t> right) {
    Calibration result;
    for (std::size_t i = 0; i < n_bins; ++i)
        result.bins.push_back({.low = double(i) / n_bins, .high = double(i + 1) / n_bins});
    for (std::size_t i = 0; i < confidences.size(); ++i) {
        const auto place = static_cast<std::size_t>(confidences[i] * n_bins);
        CalibrationBin& bin = result.bins[std::min(place, n_bins - 1)];
        ++bin.count;
        bin.confidence += confidences[i];
        bin.accuracy += right[i];
    }
    for (CalibrationBin& bin : result.bins) {
        if (bin.count == 0) continue;
        const auto n = static_cast<double>(bin.count);
        result.expected_calibration_error +=
            std::abs(bin.accuracy - bin.confidence) / static_cast<double>(confidences.size());
        bin.confidence /= n;
        bin.accuracy /= n;
    }
    return result;
}

std::vector<LeftErrors> left_errors(std::span<const double> confidences,
                                    std::span<const std::uint8_t> right) {
    std::vector<std::size_t> order(confidences.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return confidences[a] != confidences[b] ? confidences[a] < confidences[b] : right[a] > right[b];
    });
    const auto n = std::ssize(confidences);
    std::int64_t left = std::count(right.begin(), right.end(), 0), rejected = 0;
    std::vector<LeftErrors> curve{{0, left}};
    for (const std::size_t i : order) {
        ++rejected;
        if (right[i] == 0) curve.push_back({rejected, --left});
    }
    if (curve.back().rejected < n) curve.push_back({n, left});
    return curve;
}

}  // namespace knn
