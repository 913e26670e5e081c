/// McNemar's test against Pascal's triangle, and against values from exact fractions (Python: fractions, math.comb).

#include "classifier/evaluation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tests/support/points.h"

using namespace knn;
using knn::test::votes_for;

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
