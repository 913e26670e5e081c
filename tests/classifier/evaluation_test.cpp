#include "classifier/evaluation.h"

#include "tests/support/points.h"
#include "tests/support/test.h"

using namespace knn;
using knn::test::votes_for;

namespace {
Score score_of_counts(std::int64_t correct, std::int64_t total) {
    std::vector<std::uint8_t> truth(static_cast<std::size_t>(total), 1);
    std::vector<Vote> votes(static_cast<std::size_t>(total), Vote{1, 1.0});
    for (std::int64_t i = correct; i < total; ++i)
        votes[static_cast<std::size_t>(i)].label = 2;
    const std::vector<std::uint8_t> labels = {1, 2};
    return score(votes, truth, labels);
}
}  // namespace

TEST_CASE("confusion, precision, recall and F1 by hand") {
    //            true      1  1  1  7  7  200
    //            predicted 1  7  1  7  1  1
    const std::vector<std::uint8_t> truth = {1, 1, 1, 7, 7, 200}, labels = {1, 7, 9, 200};
    const Score got = score(votes_for({1, 7, 1, 7, 1, 1}), truth, labels);
    CHECK(got.correct == 3);
    CHECK(got.total == 6);
    CHECK(got.accuracy == 0.5);
    const std::vector<std::vector<std::int64_t>> confusion = {
        {2, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}};
    CHECK(got.confusion == confusion);
    CHECK(got.per_class[0].label == 1);
    CHECK(got.per_class[0].precision == doctest::Approx(2.0 / 4));
    CHECK(got.per_class[0].recall == doctest::Approx(2.0 / 3));
    CHECK(got.per_class[0].f1 == doctest::Approx(4.0 / 7));
    CHECK(got.per_class[0].support == 3);
    CHECK(got.per_class[2].precision == 0);  // never predicted, never there
    CHECK(got.per_class[2].f1 == 0);
    CHECK(got.per_class[3].label == 200);
    CHECK(got.per_class[3].recall == 0);
    CHECK(got.per_class[3].support == 1);
}

TEST_CASE("the Wilson interval") {
    // z = 1.959964: center (p + z²/2n) / (1 + z²/n), half z sqrt(p(1-p)/n + z²/4n²) / (1 + z²/n).
    const Score mnist = score_of_counts(9688, 10000);
    CHECK(mnist.accuracy == doctest::Approx(0.9688));
    CHECK(mnist.accuracy_low == doctest::Approx(0.965208).epsilon(1e-5));
    CHECK(mnist.accuracy_high == doctest::Approx(0.972032).epsilon(1e-5));
    const Score half = score_of_counts(5, 10);
    CHECK(half.accuracy_low == doctest::Approx(0.236593).epsilon(1e-5));
    CHECK(half.accuracy_high == doctest::Approx(0.763407).epsilon(1e-5));
    const Score all = score_of_counts(10, 10);
    CHECK(all.accuracy_low == doctest::Approx(0.722467).epsilon(1e-5));
    CHECK(all.accuracy_high == 1);
    const Score none = score_of_counts(0, 1);
    CHECK(none.accuracy_low == 0);
    CHECK(none.accuracy_high == doctest::Approx(0.793451).epsilon(1e-5));
    for (std::int64_t total = 1; total < 100;
         ++total) {  // the ends are reached exactly, whatever the rounding
        CHECK(score_of_counts(0, total).accuracy_low == 0);
        CHECK(score_of_counts(total, total).accuracy_high == 1);
    }
}

TEST_CASE("labels that are no class and missing votes are refused") {
    const std::vector<std::uint8_t> truth = {1, 2}, labels = {1};
    CHECK_THROWS_AS(score(votes_for({1, 1}), truth, labels), std::out_of_range);
    CHECK_THROWS_AS(score(votes_for({1}), truth, labels), std::invalid_argument);
}

// McNemar's test against Pascal's triangle, and against values from exact fractions (Python: fractions, math.comb).

TEST_CASE("McNemar's test: small counts as Pascal's triangle gives them") {
    std::vector<long double> row = {1};  // C(n, i) / 2^n
    for (int n = 0; n <= 120; ++n) {
        for (int a = 0; a <= n; ++a) {
            long double tail = 0;
            for (int i = 0; i <= std::min(a, n - a); ++i)
                tail += row[static_cast<std::size_t>(i)];
            const auto expected = static_cast<double>(std::min(1.0L, 2 * tail));
            CHECK(mcnemar_p(a, n - a) == doctest::Approx(expected).epsilon(1e-9));
        }
        std::vector<long double> next(row.size() + 1);
        for (std::size_t i = 0; i < row.size(); ++i) {
            next[i] += row[i] / 2;
            next[i + 1] += row[i] / 2;
        }
        row = next;
    }
}

TEST_CASE("McNemar's test: known values") {
    CHECK(mcnemar_p(0, 0) == 1);
    CHECK(mcnemar_p(0, 5) == doctest::Approx(0.0625));
    CHECK(mcnemar_p(6, 0) == doctest::Approx(0.03125));
    CHECK(mcnemar_p(5, 15) == doctest::Approx(0.041389465332));
    CHECK(mcnemar_p(30, 60) == doctest::Approx(0.00206026568096).epsilon(1e-9));
    CHECK(mcnemar_p(1200, 1000) == doctest::Approx(2.18170264079e-05).epsilon(1e-9));
    CHECK(mcnemar_p(5000, 5400) == doctest::Approx(9.11694931454e-05).epsilon(1e-9));
    CHECK(mcnemar_p(100, 900) / 1.340343558e-161 == doctest::Approx(1).epsilon(1e-7));
    CHECK(mcnemar_p(0, 100000) == 0);  // below the smallest double
    CHECK(mcnemar_p(500000, 500000) == 1);
}

TEST_CASE("compare: counts, digits and the test") {
    const std::vector<std::uint8_t> truth = {1, 2, 3, 200, 5, 6, 7, 8};
    const auto a = votes_for({1, 2, 0, 200, 5, 6, 7, 0}), b = votes_for({1, 0, 3, 201, 0, 1, 2, 9});
    const Comparison result = compare(a, b, truth);
    CHECK(result.both_right == 1);
    CHECK(result.only_a == 5);
    CHECK(result.only_b == 1);
    CHECK(result.both_wrong == 1);
    CHECK(result.total() == 8);
    CHECK(result.p_value == doctest::Approx(2 * (1 + 6) / 64.0));
    const std::vector<Disagreement> expected = {{1, 2, 2, 0}, {2, 3, 0, 3}, {3, 200, 200, 201},
                                                {4, 5, 5, 0}, {5, 6, 6, 1}, {6, 7, 7, 2}};
    CHECK(result.disagreements == expected);
    CHECK(compare(a, a, truth).p_value == 1);
    CHECK(compare({}, {}, {}).total() == 0);
    CHECK_THROWS_AS(compare(a, votes_for({1}), truth), std::invalid_argument);
}
