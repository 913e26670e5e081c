#include "data/transform/histograms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace knn {

namespace {

std::vector<Direction> directions(int n) {
    const double step = 2 * std::numbers::pi / n, scale = 64 / std::sin(step);
    std::vector<Direction> all;
    for (int i = 0; i < n; ++i)
        all.push_back({static_cast<std::int32_t>(std::lround(std::cos(i * step) * scale)),
                       static_cast<std::int32_t>(std::lround(std::sin(i * step) * scale))});
    return all;
}

/// Cells of about `nominal` pixels, at least one, with the `weight(pixel, begin, end)` of each pixel for the cell [begin, end); pixels of weight 0 at the ends are left out.
Axis axis(int length, int nominal, const auto& weight) {
    Axis axis;
    const int n = std::max((length + nominal / 2) / nominal, 1);
    const auto border = [&](int cell) { return static_cast<int>(std::int64_t{cell} * length / n); };
    for (int cell = 0; cell < n; ++cell) {
        const int begin = border(cell), end = border(cell + 1), reach = 2 * nominal;
        int first = std::max(begin - reach, 0), last = std::min(end + reach, length);
        while (first < last && weight(first, begin, end) == 0)
            ++first;
        while (first < last && weight(last - 1, begin, end) == 0)
            --last;
        axis.cells.push_back({first, last - first, static_cast<std::int32_t>(axis.weights.size())});
        for (int pixel = first; pixel < last; ++pixel)
            axis.weights.push_back(weight(pixel, begin, end));
    }
    return axis;
}

/// 64 times the mean over the pixels of the cell of a Gaussian of 1.5 pixels around `pixel`.
std::int32_t blurred_box(int pixel, int begin, int end) {
    constexpr std::array<int, 9> gaussian = {2, 9, 28, 55, 68, 55, 28, 9, 2};  // of 256
    int sum = 0;
    for (int at = std::max(begin, pixel - 4); at < std::min(end, pixel + 5); ++at)
        sum += gaussian[static_cast<std::size_t>(at - pixel + 4)];
    const int n = end - begin;
    return (64 * sum + 128 * n) / (256 * n);
}

/// Bilinear: 16 at the center of the cell, 0 at those of its neighbors.
std::int32_t triangle(int pixel, int begin, int end) {
    const int n = end - begin, twice_away = std::abs(2 * pixel + 1 - begin - end);
    return twice_away >= 2 * n ? 0 : (16 * (2 * n - twice_away) + n) / (2 * n);
}

}  // namespace

Histograms gradient_histograms(ImageShape image) {
    constexpr int pixels = 4;
    constexpr float one = 8 * 255;  // the Sobel gradient of a slope of 1 per pixel
    return {.image = image,
            .derivative = Derivative::sobel,
            .directions = directions(16),
            .has_sign = true,
            .numerator = one / 32,
            .offset = 0.3f * one,
            .rows = axis(image.rows, pixels, blurred_box),
            .cols = axis(image.cols, pixels, blurred_box),
            .has_blocks = false};
}

Histograms hog_histograms(ImageShape image) {
    constexpr int pixels = 4;
    return {.image = image,
            .derivative = Derivative::centered,
            .directions = directions(18),
            .has_sign = false,
            .numerator = 1.0f / 32,
            .offset = 0,
            .rows = axis(image.rows, pixels, triangle),
            .cols = axis(image.cols, pixels, triangle),
            .has_blocks = true};
}

}  // namespace knn
