#include "classifier/leave_one_out.h"

#include <Eigen/LU>

#include "classifier/vote.h"
#include "tests/support/points.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

/// Points on a line: image i is one pixel of value 7 i % 251, label i % 10.
struct Line {
    test::Rows points;
    std::vector<std::uint8_t> labels;

    explicit Line(std::int64_t count) : points{{}, count, 1} {
        for (std::int64_t i = 0; i < count; ++i) {
            points.pixels.push_back(static_cast<std::uint8_t>(i * 7 % 251));
            labels.push_back(static_cast<std::uint8_t>(i % 10));
        }
    }
    Training training() const { return {test::view(points), labels, {1, 1}}; }
    Neighbors nearest(int k) const { return test::right(points, points, k, {.first = 0}); }
    LeaveOneOut sample(const Method& method, bool unlike = false) const {
        const Training used = training();
        Index classifier(used, method, resolve_on_cpu(method.problem(used, 1), 2));
        const ComparedRows compared{used.rows, grid_of(nullptr, used.shape), used.labels, {}};
        return leave_one_out(classifier, unlike ? &compared : nullptr, {});
    }
};

using Rows64 = std::vector<std::vector<double>>;

/// The mixture, from the conditions of the least squares under Σ x = 1: unknowns are x, then the multiplier.
std::vector<double> mixture(const Rows64& differences) {
    using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
    const auto m = std::ssize(differences), dim = std::ssize(differences[0]);
    Matrix rows(m, dim);
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t p = 0; p < dim; ++p)
            rows(i, p) = differences[std::size_t(i)][std::size_t(p)];
    const Matrix products = rows * rows.transpose();
    Matrix left = Matrix::Ones(m + 1, m + 1), right = Matrix::Zero(m + 1, 1);
    left.topLeftCorner(m, m) = 2 * products;
    left.topLeftCorner(m, m).diagonal().array() += 0.04L * products.trace() / static_cast<long double>(m);
    left(m, m) = 0;
    right(m, 0) = 1;
    const Matrix x = left.partialPivLu().solve(right);
    return {x.data(), x.data() + m};
}

/// What no mixture with x > 0 explains.
std::vector<double> rest_of(Rows64 differences) {
    std::vector<double> x = mixture(differences);
    while (std::any_of(x.begin(), x.end(), [](double one) { return one <= 0; })) {
        Rows64 left;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x[i] > 0) left.push_back(differences[i]);
        differences = left;
        x = mixture(differences);
    }
    std::vector<double> rest(differences[0].size());
    for (std::size_t p = 0; p < rest.size(); ++p)
        for (std::size_t i = 0; i < x.size(); ++i)
            rest[p] += x[i] * differences[i][p];
    return rest;
}

double energy(const std::vector<double>& rest, const FeatureGrid& grid, int high, int wide) {
    double most = 1e-3;
    for (int top = 0; top + high <= grid.rows; ++top)
        for (int left = 0; left + wide <= grid.cols; ++left) {
            double sum = 0;
            for (int row = top; row < top + high; ++row)
                for (int i = (row * grid.cols + left) * grid.depth;
                     i < (row * grid.cols + left + wide) * grid.depth; ++i)
                    sum += rest[std::size_t(i)] * rest[std::size_t(i)];
            most = std::max(most, sum);
        }
    double all = 0;
    for (const double one : rest)
        all += one * one;
    return std::max(most, 0.4 * all);
}

struct Shape {
    FeatureGrid grid;
    int high, wide;  ///< of the window
};

}  // namespace

TEST_CASE("a sample is spread evenly, and over every remainder of its indices") {
    for (const std::int64_t n : {200, 4999, 6000, 60'000, 240'000}) {
        const std::vector<std::uint32_t> sample = strided_sample(n);
        const std::int64_t m = std::ssize(sample);
        CHECK(m == std::min<std::int64_t>(n, 4999));
        for (const std::int64_t period : {2, 3, 4, 5, 10, 12}) {
            std::vector<std::int64_t> counts(static_cast<std::size_t>(period));
            for (const std::uint32_t image : sample) {
                REQUIRE(image < n);
                ++counts[static_cast<std::size_t>(image % period)];
            }
            const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
            CAPTURE(n);
            CAPTURE(period);
            CHECK(*most - *least <= std::max<std::int64_t>(1, m / period / 20));
        }
    }
}

TEST_CASE("leave one out: each image is classified by all the others") {
    const Line line(300);
    const Method method{.vote = {.k = 3}};
    const LeaveOneOut answers = line.sample(method);
    REQUIRE(answers.size() == 300);
    const Neighbors nearest = line.nearest(3);
    for (std::int64_t i = 0; i < 300; ++i) {
        const auto all = nearest.row(i);
        const Vote expected = vote(all, line.labels, method.vote);
        const SampledAnswer& got = answers[std::size_t(i)];
        REQUIRE(got.confidence_features.share == expected.vote_share);
        REQUIRE(got.confidence_features.margin ==
                confidence_features(all, line.labels, expected, method.vote, {}).margin);
        REQUIRE(got.right == (expected.label == line.labels[std::size_t(i)] ? 1 : 0));
        REQUIRE(got.distance == mean_distance(all, {}));
        REQUIRE(got.nearest_label == line.labels[all[0].index]);
        REQUIRE(got.novelty == 0);
    }
}

TEST_CASE("leave one out with novelty") {
    const Line line(250);
    const LeaveOneOut answers = line.sample({.vote = {.k = 1}}, true);
    const Neighbors nearest = line.nearest(1);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const double distance = nearest.rows[i].distance;
        REQUIRE(answers[i].novelty == doctest::Approx(2 * std::log(std::max(distance, 1e-3))));
    }
}

TEST_CASE("too few images have no sample") {
    CHECK(Line(199).sample({}).empty());
    CHECK(Line(200).sample({}).size() == 200);
    CHECK(Line(200).sample({.vote = {.k = 200}}).empty());
}

TEST_CASE("novelty against the conditions of the least squares") {
    std::mt19937 random(5);
    int left_out = 0;
    for (const auto& [grid, high, wide] :
         {Shape{{1, 1, 1}, 1, 1}, Shape{{3, 5, 1}, 1, 2}, Shape{{1, 1, 40}, 1, 1}, Shape{{7, 7, 16}, 3, 3},
          Shape{{28, 28, 1}, 12, 12}, Shape{{6, 6, 36}, 3, 3}, Shape{{10, 30, 10}, 4, 13}})
        for (const int others : {0, 3}) {
            const int n = 48, dim = grid.rows * grid.cols * grid.depth;
            const auto size = static_cast<std::size_t>(dim);
            std::vector<std::uint8_t> pixels(n * size), labels, query(size);
            for (auto* bytes : {&pixels, &query})
                for (std::uint8_t& one : *bytes)
                    one = static_cast<std::uint8_t>(random() % 256);
            std::vector<Neighbor> neighbors;
            Rows64 differences;
            for (int i = 0; i < n; ++i) {
                labels.push_back(others > 0 && i % others == 0 ? 1 : 7);
                neighbors.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i)});
                if (labels.back() != 7 || differences.size() == 32) continue;
                auto& difference = differences.emplace_back();
                for (int p = 0; p < dim; ++p)
                    difference.push_back(double(pixels[std::size_t(i * dim + p)]) - query[std::size_t(p)]);
            }
            const std::vector<double> first = mixture(differences), rest = rest_of(differences);
            left_out += std::any_of(first.begin(), first.end(), [](double one) { return one <= 0; });
            const ComparedRows train{{pixels.data(), n, dim}, grid, labels, {}};
            CAPTURE(dim);
            CHECK(novelty_score(query.data(), train, neighbors, 7) ==
                  doctest::Approx(std::log(energy(rest, grid, high, wide))).epsilon(1e-9));
        }
    CHECK(left_out > 0);  // both kinds are there
    CHECK(left_out < 14);
}

TEST_CASE("novelty of a copy is finite, and density is divided out") {
    const std::vector<std::uint8_t> pixels = {10, 20, 30, 40}, labels = {2, 2};
    const std::vector<Neighbor> neighbors = {{0, 0}, {800, 1}};
    const std::vector<std::uint32_t> density = {1u << 15, 1u << 16};
    const std::uint8_t copy[] = {10, 20};
    const ComparedRows twice{{pixels.data(), 1, 2}, {1, 2, 1}, std::span(labels).first(1), {}};
    CHECK(novelty_score(copy, twice, std::span(neighbors).first(1), 2) == doctest::Approx(std::log(1e-3)));
    const ComparedRows plain{{pixels.data(), 2, 2}, {1, 2, 1}, labels, {}},
        dense{{pixels.data(), 2, 2}, {1, 2, 1}, labels, density};
    const std::uint8_t other[] = {0, 25};
    CHECK(novelty_score(other, dense, neighbors, 2) - novelty_score(other, plain, neighbors, 2) ==
          doctest::Approx((0 + std::log(2.0)) / 2));
}
