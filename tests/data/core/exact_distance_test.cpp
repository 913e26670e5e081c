/// Distances of real rows: the definition against an oracle and extended precision, powers, scores, limits of elements.

#include "data/core/exact_distance.h"

#include "tests/support/real_oracle.h"
#include "tests/support/test.h"

namespace knn {
namespace {

const std::vector<Measure>& real_measures() {
    static const std::vector<Measure> all{{Metric::l2, 2, true},     {Metric::l1, 2, true},
                                          {Metric::lp, 3, true},     {Metric::lp, 1.5, true},
                                          {Metric::lp, 0.3, true},   {Metric::cosine, 2, true},
                                          {Metric::pearson, 2, true}};
    return all;
}

TEST_CASE("exact distance: the definition, on hostile sets of every type") {
    for (const ElementType type : {ElementType::int8, ElementType::float32, ElementType::float64})
        for (const test::RealSet& set : test::hostile_real_sets(type))
            for (const Measure& measure : real_measures()) {
                CAPTURE(set.name);
                CAPTURE(name(measure.metric));
                CAPTURE(measure.p);
                const Rows rows = set.rows();
                for (std::int64_t i = 0; i < 40; ++i) {
                    const std::int64_t j = (i * 37 + 1) % rows.count;
                    const double distance =
                        exact_distance(measure, rows.row(i), rows.row(j), rows.dim, rows.type);
                    REQUIRE(distance == test::defined_distance(measure, rows, i, rows, j));
                    REQUIRE(distance ==
                            exact_distance(measure, rows.row(j), rows.row(i), rows.dim, rows.type));
                    const double own = exact_distance(measure, rows.row(i), rows.row(i), rows.dim, rows.type);
                    REQUIRE((own == 0 || own == 1));
                }
            }
}

TEST_CASE("exact distance: as in extended precision") {
    for (const ElementType type : {ElementType::int8, ElementType::float32, ElementType::float64}) {
        const test::RealSet set = test::normal_set(60, 301, 5, 3, type);
        const Rows rows = set.rows();
        for (const Measure& measure : real_measures())
            for (std::int64_t i = 1; i < rows.count; ++i) {
                const double distance =
                    exact_distance(measure, rows.row(0), rows.row(i), rows.dim, rows.type);
                const auto exact = static_cast<double>(test::long_distance(measure, rows, 0, rows, i));
                REQUIRE(std::abs(distance - exact) <= 1e-14 * std::max(1.0, std::abs(exact)));
            }
    }
}

TEST_CASE("exact distance: power is within two units of the last place, exact for squares and roots") {
    std::mt19937_64 random(3);
    const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    for (int i = 0; i < 20000; ++i) {
        const double x = std::exp2((uniform() - 0.5) * 120), p = 0.1 + uniform() * 12;
        const double found = power(x, p);
        const auto right =
            static_cast<double>(std::pow(static_cast<long double>(x), static_cast<long double>(p)));
        REQUIRE(std::abs(found - right) <= 2.5 * std::numeric_limits<double>::epsilon() * right);
        REQUIRE(power(x, 1) == x);
        REQUIRE(power(x, 2) == x * x);
        REQUIRE(power(x, 0.5) == std::sqrt(x));
    }
    CHECK(power(0, 0.3) == 0);
    CHECK(power(1, 0.3) == 1);
    CHECK(power(1, 7.7) == 1);
    CHECK(power(4, 0.1) == doctest::Approx(std::pow(4, 0.1)));
    CHECK(power(5e-324, 0.1) == doctest::Approx(std::pow(5e-324, 0.1)));
    CHECK(power(1e300, 7.7) == std::numeric_limits<double>::infinity());
    CHECK(power(1e-300, 7.7) == 0);
    CHECK(power(2, 10.25) == doctest::Approx(std::pow(2, 10.25)));
}

TEST_CASE("exact distance: a root takes back its power, and keeps the order") {
    std::mt19937_64 random(5);
    for (const double p : {0.1, 0.5, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 7.3, 15.0}) {
        CAPTURE(p);
        for (int i = 1; i <= 2000; ++i) {
            const double x = static_cast<double>(random() >> 11) * 0x1p-53 * i;
            for (const double one : {static_cast<double>(i), x}) {
                const double sum = power(one, p), back = root(sum, p);
                REQUIRE((p < 3 ? std::abs(back - one) <= 2 / p * std::numeric_limits<double>::epsilon() * one
                               : back == one));
                REQUIRE(std::abs(power(back, p) - sum) <=
                        (p < 1 ? std::numeric_limits<double>::epsilon() * sum : 0));
            }
            double s = x, before = 0;
            for (int j = 0; j < 20; ++j, s = std::nextafter(s, HUGE_VAL)) {
                const double now = root(s, p);
                REQUIRE(now >= before);
                before = now;
            }
        }
    }
    for (const double p : {0.1, 0.5, 0.7, 2.0 / 3})
        for (int i = 1; i <= 2000; ++i) {
            const auto right =
                static_cast<double>(std::pow(static_cast<long double>(i), 1 / static_cast<long double>(p)));
            REQUIRE(std::abs(root(i, p) - right) <= 2.5 / p * std::numeric_limits<double>::epsilon() * right);
        }
    for (const double p : {0.1, 0.7, 3.0, 15.0}) {
        CHECK(root(0, p) == 0);
        CHECK(root(1, p) == 1);
        CHECK(root(HUGE_VAL, p) == HUGE_VAL);
    }
    CHECK(root(5e-324, 15) == doctest::Approx(std::pow(5e-324, 1.0 / 15)));
    CHECK(root(1e300, 0.1) == HUGE_VAL);
}

TEST_CASE("exact distance: scores keep the order, and are 0 for 0 alone") {
    std::mt19937_64 random(4);
    std::vector<double> all{
        0, 5e-324, 1e-300, 1e-45, 1, 1.5, 2, 1e30, 1e60, 1e300, std::numeric_limits<double>::max()};
    for (int i = 0; i < 5000; ++i)
        all.push_back(std::bit_cast<double>(random() >> 1 & 0x7fdfffffffffffff));
    std::sort(all.begin(), all.end());
    for (std::size_t i = 1; i < all.size(); ++i) {
        REQUIRE(score_of_real(all[i - 1]) <= score_of_real(all[i]));
        if (all[i] < 1e-290 || all[i] > 1e300) continue;
        REQUIRE(real_of_score(score_of_real(all[i])) == doctest::Approx(all[i]).epsilon(0x1p-22));
    }
    CHECK(score_of_real(0) == 0);
    CHECK(score_of_real(5e-324) == 1);
    CHECK(score_of_real(std::numeric_limits<double>::infinity()) < excluded_distance);
    CHECK(real_of_score(score_of_real(1.5)) == 1.5);
    // Half of a step: to even.
    CHECK(real_of_score(score_of_real(1 + 0x1p-22)) == 1);
    CHECK(real_of_score(score_of_real(1 + 0x1.8p-21)) == 1 + 0x1p-20);
}

TEST_CASE("exact distance: elements that are not finite, or too large") {
    const auto refused = [](std::vector<double> values, const Measure& measure,
                            ElementType type = ElementType::float64) {
        const test::RealSet set = test::real_set("", values, 2, type);
        return refuse_elements(measure, magnitude_of(set.rows()), 2).value_or("");
    };
    const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
    CHECK(refused({1, 2, 3, nan}, {}) == "row 1, column 1 is not finite; expected finite numbers");
    CHECK(refused({1, 2, -infinity, nan}, {}, ElementType::float32) ==
          "row 1, column 0 is not finite; expected finite numbers");
    CHECK(refused({1e38, -1e38}, {}, ElementType::float32).empty());
    CHECK(refused({1e140, 1}, {}).empty());
    CHECK(refused({1e160, 1}, {}) ==
          "row 0, column 0 is 1e+160, so that a sum of 2 squares could be infinite; expected a magnitude of "
          "at most "
          "1.15e+150");
    CHECK(refused({1, 2, 1e160, -1e170, 1e170, nan}, {}) ==
          "row 2, column 1 is not finite; expected finite numbers");
    CHECK(refused({1, 2, 1e160, -1e170, 1e170, 3}, {}).starts_with("row 1, column 1 is -1e+170, so"));
    CHECK(refused({1e160, 1}, {Metric::l1, 2, true}).empty());
    CHECK_FALSE(refused({1e30, 1}, {Metric::lp, 15, true}, ElementType::float32).empty());
    CHECK(refused({1.15e150, 1}, {}).empty());
    for (const double p : {0.1, 0.5, 0.9}) {  // the root of the largest sum is finite
        const Measure measure{Metric::lp, p, true};
        const double most = largest_element(measure, 2);
        CHECK(refused({most, 1}, measure).empty());
        CHECK(std::isfinite(std::pow(2 * std::pow(2 * most, p), 1 / p)));
        CHECK(test::contains(refused({2 * most, 1}, measure), "2 powers or its root could be infinite"));
    }
}

}  // namespace
}  // namespace knn
