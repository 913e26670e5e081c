#pragma once
/// A small set that looks like digits, and an oracle, for tests that see the library from outside.

#include "mnist_knn/knn.h"
#include "tests/support/test.h"

namespace knn::test {

/// n images of 28 × 28: a pattern of the label, with noise.
struct DrawnSet {
    static constexpr int side = 28;
    static constexpr std::int64_t dim = side * side;
    std::int64_t n;
    std::vector<std::uint8_t> pixels, labels;

    explicit DrawnSet(std::int64_t count, std::uint32_t seed) : n(count) {
        std::mt19937 random(seed);
        for (std::int64_t i = 0; i < n; ++i) {
            const auto label = static_cast<std::uint8_t>(random() % 10);
            labels.push_back(label);
            const int x = static_cast<int>(random() % 5), y = static_cast<int>(random() % 5);
            for (int row = 0; row < side; ++row)
                for (int col = 0; col < side; ++col) {
                    const int a = row - y - 4, b = col - x - 4;
                    const bool inside = a >= 0 && a < 16 && b >= 0 && b < 16;
                    const bool ink =
                        inside && ((a / 2) * (label + 3) + (b / 2) * (label * label + 1)) % 7 < 3;
                    pixels.push_back(static_cast<std::uint8_t>((ink ? 150 : 0) + random() % 60));
                }
        }
    }

    knn_vectors vectors(std::int64_t first = 0, std::int64_t count = -1) const {
        knn_vectors all = KNN_VECTORS(pixels.data() + first * dim, count < 0 ? n - first : count, dim);
        all.image_rows = all.image_cols = side;
        return all;
    }
    const std::uint8_t* row(std::int64_t i) const { return pixels.data() + i * dim; }
};

/// The k nearest of a query among the first n by squared distance, in order; `without`: a row that is left out.
inline std::vector<std::pair<double, std::uint32_t>> nearest(const DrawnSet& set, std::int64_t n,
                                                             const std::uint8_t* query, std::size_t k,
                                                             std::int64_t without = -1) {
    std::vector<std::pair<double, std::uint32_t>> all;
    for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t sum = 0;
        for (std::int64_t p = 0; p < set.dim; ++p)
            sum += (set.row(i)[p] - query[p]) * (set.row(i)[p] - query[p]);
        if (i != without) all.emplace_back(static_cast<double>(sum), static_cast<std::uint32_t>(i));
    }
    std::sort(all.begin(), all.end());
    all.resize(k);
    return all;
}

}  // namespace knn::test
