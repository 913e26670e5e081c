#include "data/sketch/sketch.h"

#include <tuple>

#include "data/core/errors.h"
#include "data/sketch/directions.h"
#include "tests/support/hostile_sets.h"
#include "tests/support/points.h"
#include "tests/support/surroundings.h"
#include "tests/support/test.h"

namespace knn {
namespace {

struct SketchedSet {
    Sketch sketch;
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint32_t> errors;

    SketchedSet(const test::Rows& rows, std::int64_t columns)
        : sketch(fit_sketch(rows, columns)), bytes(static_cast<std::size_t>(rows.n * columns)) {
        for (std::int64_t i = 0; i < rows.n; ++i)
            errors.push_back(sketch_row(sketch, knn::Rows(rows).row(i), bytes.data() + i * columns));
    }
    const std::uint8_t* row(std::int64_t i) const { return bytes.data() + i * sketch.columns; }
    std::uint32_t error(std::int64_t i) const { return errors[static_cast<std::size_t>(i)]; }
};

std::uint32_t squared(const std::uint8_t* a, const std::uint8_t* b, std::int64_t n) {
    std::uint32_t sum = 0;
    for (std::int64_t j = 0; j < n; ++j)
        sum += static_cast<std::uint32_t>((a[j] - b[j]) * (a[j] - b[j]));
    return sum;
}

TEST_CASE("sketch: no pair of hostile sets is nearer than its bound") {
    for (const test::NamedRows& set : test::hostile_sets())
        for (const std::int64_t columns : {64, 128}) {
            const test::Rows& rows = set.rows;
            CAPTURE(set.name);
            CAPTURE(columns);
            const SketchedSet made(rows, columns);
            const Sketch& sketch = made.sketch;
            CHECK(sketch.axes <= std::min({columns - spare_columns, rows.dim, rows.n}));
            std::int64_t wrong = 0, pruned = 0;
            for (std::int64_t i = 0; i < std::min<std::int64_t>(rows.n, 300); ++i)
                for (std::int64_t j = 0; j < rows.n; ++j) {
                    const std::uint32_t d = squared(knn::Rows(rows).row(i), knn::Rows(rows).row(j), rows.dim),
                                        s = squared(made.row(i), made.row(j), columns);
                    const std::uint64_t reach =
                        std::uint64_t{sketch_reach(sketch.stretch, d)} + made.error(i);
                    const long double bound = 1024 * std::sqrt(static_cast<long double>(s));
                    wrong += s > sketch_limit(reach + made.error(j));
                    wrong += bound > std::sqrt(static_cast<long double>(d)) * sketch.stretch + made.error(i) +
                                         made.error(j);
                    pruned += d > 4 && s > sketch_limit(std::uint64_t{sketch_reach(sketch.stretch, d / 4)} +
                                                        made.error(i) + made.error(j));
                }
            CHECK(wrong == 0);
            if (set.name == "two clusters" || set.name == "one far outlier") CHECK(pruned > 0);
        }
}

TEST_CASE("sketch: directions are as far apart as angles are, but for their rests") {
    for (const test::NamedRows& set : test::hostile_sets())
        for (const Metric metric : {Metric::cosine, Metric::pearson}) {
            const test::Rows& rows = set.rows;
            CAPTURE(set.name);
            CAPTURE(metric);
            const knn::Rows all = rows;
            const auto dim = static_cast<std::size_t>(rows.dim);
            const Directions directions = fit_directions(all, metric).value();
            const std::int64_t n = std::min<std::int64_t>(rows.n, 100);
            std::vector<std::vector<long double>> units;  // none of a row without a direction
            std::vector<double> rests;
            std::vector<std::vector<std::uint8_t>> made;
            std::int64_t wrong = 0;
            for (std::int64_t i = 0; i < n; ++i) {
                const std::uint8_t* row = all.row(i);
                const long double mean = metric == Metric::pearson ? std::accumulate(row, row + dim, 0.0L) /
                                                                         static_cast<long double>(dim)
                                                                   : 0;
                long double squares = 0, rest = 0;
                for (std::size_t j = 0; j < dim; ++j)
                    squares += (row[j] - mean) * (row[j] - mean);
                made.emplace_back(dim);
                rests.push_back(direction_of(directions, row, rows.dim, made.back().data()));
                // A constant row has no direction, but the mean of its pixels may be rounded.
                const bool is_constant = metric == Metric::pearson && std::equal(row + 1, row + dim, row);
                units.emplace_back(squares > 0 && !is_constant ? dim : 0);
                CHECK(units.back().empty() == std::isinf(rests.back()));
                for (std::size_t j = 0; j < units.back().size(); ++j) {
                    units.back()[j] = directions.factor * (row[j] - mean) / std::sqrt(squares);
                    const long double off = made.back()[j] - directions.shift - units.back()[j];
                    rest += off * off;
                }
                wrong += std::sqrt(rest) > rests.back();
                if (set.name == "two clusters")
                    CHECK(rests.back() < 0.5 * std::sqrt(static_cast<double>(dim)) + 1);
            }
            for (std::size_t a = 0; a < units.size(); ++a)
                for (std::size_t b = 0; b < units.size(); ++b) {
                    if (units[a].empty() || units[b].empty()) continue;
                    long double angle = 0;
                    for (std::size_t j = 0; j < dim; ++j)
                        angle += (units[a][j] - units[b][j]) * (units[a][j] - units[b][j]);
                    const auto apart =
                        static_cast<long double>(squared(made[a].data(), made[b].data(), rows.dim));
                    wrong += std::sqrt(apart) > std::sqrt(angle) + rests[a] + rests[b] + 1e-9L;
                }
            CHECK(wrong == 0);
        }
}

/// A lower bound of the largest singular value of the weights, by 50 steps of power iteration.
long double norm_below(const Sketch& sketch) {
    const auto weight = [&](std::int64_t i, std::int64_t j) {
        return static_cast<long double>(sketch.weights[static_cast<std::size_t>(i * sketch.dim + j)]);
    };
    std::vector<long double> x(static_cast<std::size_t>(sketch.dim)), y;
    for (std::size_t j = 0; j < x.size(); ++j)
        x[j] = static_cast<long double>(j % 7) - 2.5L;
    long double ratio = 0;
    for (int step = 0; step < 50; ++step) {
        long double before = 0, after = 0;
        y.assign(static_cast<std::size_t>(sketch.axes), 0);
        for (std::int64_t i = 0; i < sketch.axes; ++i)
            for (std::int64_t j = 0; j < sketch.dim; ++j)
                y[static_cast<std::size_t>(i)] += weight(i, j) * x[static_cast<std::size_t>(j)];
        for (const long double one : x)
            before += one * one;
        for (const long double one : y)
            after += one * one;
        if (after == 0) break;
        ratio = std::sqrt(after / before);
        std::fill(x.begin(), x.end(), 0.0L);
        for (std::int64_t i = 0; i < sketch.axes; ++i)
            for (std::int64_t j = 0; j < sketch.dim; ++j)
                x[static_cast<std::size_t>(j)] += weight(i, j) * y[static_cast<std::size_t>(i)] / after;
    }
    return ratio;
}

TEST_CASE("sketch: stretch and errors are rounded up, against 64-bit mantissas") {
    for (const test::NamedRows& set : test::hostile_sets()) {
        const test::Rows& rows = set.rows;
        CAPTURE(set.name);
        const SketchedSet made(rows, 128);
        const Sketch& sketch = made.sketch;
        const long double scale = static_cast<long double>(sketch.scale) / 4194304;
        CHECK(norm_below(sketch) * scale <= sketch.stretch);
        CHECK(sketch.stretch <= 16384 * 1.01L * scale);
        for (std::int64_t i = 0; i < std::min<std::int64_t>(rows.n, 300); ++i) {
            long double squares = 0;
            for (std::int64_t axis = 0; axis < sketch.axes; ++axis) {
                std::int64_t v = -sketch.centers[static_cast<std::size_t>(axis)];
                for (std::int64_t j = 0; j < rows.dim; ++j)
                    v += sketch.weights[static_cast<std::size_t>(axis * rows.dim + j)] *
                         knn::Rows(rows).row(i)[j];
                const long double rest =
                    static_cast<long double>(v) * scale - 1024.0L * (made.row(i)[axis] - 128);
                squares += rest * rest;
            }
            for (std::int64_t axis = sketch.axes; axis < 128; ++axis)
                REQUIRE(made.row(i)[axis] == 128);
            if (made.error(i) < no_bound) REQUIRE(made.error(i) >= std::sqrt(squares));
            REQUIRE(static_cast<long double>(made.error(i)) <= std::sqrt(squares) + 13);
        }
    }
}

TEST_CASE("sketch: a reach is above, its limit is below, at every edge") {
    for (const double stretch : {0.001, 0.7, 1.0, 170.4161, 65'536.0})
        for (std::uint32_t d = 0; d < 4'000'000'000U; d += 1 + d / 64) {
            const std::uint32_t reach = sketch_reach(stretch, d);
            if (reach < no_bound) REQUIRE(reach >= std::sqrt(static_cast<long double>(d)) * stretch);
            REQUIRE(reach <= std::sqrt(static_cast<long double>(d)) * stretch + 1.000001L);
        }
    for (std::uint64_t reach = 0; reach < no_bound; reach += 1 + reach / 100) {
        const std::uint64_t limit = sketch_limit(reach);
        REQUIRE(limit * 1'048'576 <= reach * reach);
        REQUIRE((limit + 1) * 1'048'576 > reach * reach);
    }
    constexpr std::uint32_t largest = 124 * 254 * 254;
    CHECK(sketch_limit(no_bound) >= largest);
    CHECK(sketch_limit(2 * std::uint64_t{no_bound}) >= largest);
    for (const std::uint64_t root : {0ULL, 1ULL, 3ULL, 1000ULL, 4'194'297ULL}) {
        CHECK(sketch_error(root * root) == std::min<std::uint64_t>(root + 6, no_bound));
        CHECK(sketch_error(root * root + 1) == std::min<std::uint64_t>(root + 7, no_bound));
    }
    CHECK(sketch_error(124 * (std::uint64_t{1} << 44)) == no_bound);
}

TEST_CASE("sketch: a column is the nearest integer, and clamped") {
    constexpr std::int64_t scale = std::int64_t{1} << 22;  // q = v
    for (const auto& [v, byte, rest] : {std::tuple{0, 128, 0},
                                        {511, 128, 511},
                                        {512, 129, -512},
                                        {-512, 128, -512},
                                        {-513, 127, 511},
                                        {127 * 1024 + 600, 255, 600},
                                        {-200 * 1024, 1, -73 * 1024},
                                        {1 << 30, 255, 1 << 22}}) {
        const int value = v;
        CAPTURE(value);
        const SketchColumn column = sketch_column(v, scale);
        CHECK(column.byte == byte);
        CHECK(column.rest == rest);
    }
}

TEST_CASE_FIXTURE(test::OwnCache, "sketch: a fit comes from the cache where the rows are the same") {
    const test::Rows rows = test::random_rows(1500, 30, 1), other = test::random_rows(1500, 30, 2);
    const std::atomic<bool> stop = true;
    const ProgressToken stopped{.progress = {}, .stop = &stop};  // a fit throws
    const auto same = [](const Sketch& a, const Sketch& b) {
        return std::tie(a.columns, a.dim, a.axes, a.weights, a.centers, a.scale, a.stretch) ==
               std::tie(b.columns, b.dim, b.axes, b.weights, b.centers, b.scale, b.stretch);
    };
    for (const std::int64_t columns : {64, 128}) {
        const Sketch fitted = fit_sketch(rows, columns);
        CHECK(same(cached_fit(rows, columns, false), fitted));
        CHECK_THROWS_AS(cached_fit(rows, columns, true, stopped), Interrupted);
        int asked = 0;
        fit_sketch(rows, columns, {.progress = [&](std::int64_t, std::int64_t) { ++asked; }});
        CHECK(asked > 1000);
        CHECK(same(cached_fit(rows, columns, true), fitted));
        CHECK(same(cached_fit(rows, columns, true, stopped), fitted));
        CHECK_THROWS_AS(cached_fit(other, columns, true, stopped), Interrupted);
    }
    for (const auto& file : std::filesystem::directory_iterator(this->file("")))
        std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    CHECK(same(cached_fit(rows, 128, true), fit_sketch(rows, 128)));
}

}  // namespace
}  // namespace knn
