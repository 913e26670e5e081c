#include "data/core/problem.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

float value_of(std::uint32_t score) {
    return std::bit_cast<float>(score);
}

/// The integers of two images, and their cosine computed in extended precision.
struct Pair {
    std::int64_t dot = 0, norm_a = 0, norm_b = 0;
    long double distance = 0;
};

Pair random_pair(std::mt19937_64& random, std::int64_t dim, unsigned noise) {
    Pair pair;
    for (std::int64_t i = 0; i < dim; ++i) {
        const auto a = 1 + static_cast<std::int64_t>(random() % 255);
        const std::int64_t b = std::clamp<std::int64_t>(
            a + static_cast<std::int64_t>(random() % (2 * noise + 1)) - noise, 1, 255);
        pair.dot += a * b;
        pair.norm_a += a * a;
        pair.norm_b += b * b;
    }
    pair.distance = 1 - static_cast<long double>(pair.dot) / (sqrtl(static_cast<long double>(pair.norm_a)) *
                                                              sqrtl(static_cast<long double>(pair.norm_b)));
    return pair;
}

}  // namespace

TEST_CASE("powers of pixels' differences") {
    for (const double p : {min_p, 0.5, 1.0, 1.5, 2.0, 3.0, 7.3, max_p}) {
        CAPTURE(p);
        const auto table = power_table(p);
        CHECK(table[0] == 0);
        CHECK(table[255] == 1);
        CHECK(static_cast<float>(table[1]) >= 1.17549435e-38f);  // the least normal float
        CHECK(std::is_sorted(table.begin(), table.end()));
        for (std::size_t v = 1; v < table.size(); ++v)
            CHECK(table[v] == doctest::Approx(std::pow(double(v) / 255, p)).epsilon(1e-13));
    }
    const auto plain = power_table(1), squares = power_table(2);
    for (std::size_t v = 0; v < plain.size(); ++v) {
        CHECK(plain[v] == double(v) / 255);
        CHECK(squares[v] == static_cast<double>(static_cast<long double>(v * v) / 65025));
    }
}

TEST_CASE("cosine: equal images are at distance 0, blank ones at 1, opposite ones at 2") {
    std::mt19937_64 random(5);
    const std::int64_t largest = max_dim * max_dim * 65'025 / 4;
    for (int i = 0; i < 100'000; ++i) {
        const std::int64_t norm = 1 + static_cast<std::int64_t>(random() % (std::uint64_t{1} << (i % 48)));
        REQUIRE(cosine_score(norm, norm, norm) == 0);
        REQUIRE(value_of(cosine_score(-norm, norm, norm)) == 2);
    }
    CHECK(cosine_score(largest, largest, largest) == 0);
    for (const std::int64_t norm : {std::int64_t{0}, std::int64_t{1}, std::int64_t{50'979'600}, largest}) {
        CHECK(value_of(cosine_score(0, 0, norm)) == 1);
        CHECK(value_of(cosine_score(0, norm, 0)) == 1);
    }
    CHECK(value_of(cosine_score(0, 7, 9)) == 1);
    CHECK(value_of(cosine_score(5, 25, 4)) == 0.5f);
    CHECK(cosine_score(3'000'001, 1'000'000, 9'000'000) == 0);  // never below 0
}

TEST_CASE("cosine: within 2^-24 of the value, and in its order") {
    std::mt19937_64 random(6);
    std::vector<std::pair<long double, std::uint32_t>> seen;
    for (int i = 0; i < 3'000; ++i) {
        const Pair pair = random_pair(random, 1 + i % 50 * 17, 1 + static_cast<unsigned>(i) % 255);
        const std::uint32_t score = cosine_score(pair.dot, pair.norm_a, pair.norm_b);
        CHECK(cosine_score(pair.dot, pair.norm_b, pair.norm_a) == score);
        REQUIRE(fabsl(value_of(score) - pair.distance) <= 0x1p-24L);
        seen.emplace_back(pair.distance, score);
    }
    std::sort(seen.begin(), seen.end());
    for (std::size_t i = 1; i < seen.size(); ++i)
        if (seen[i].first - seen[i - 1].first > 1e-15L) REQUIRE(seen[i - 1].second <= seen[i].second);
}

TEST_CASE("scores convert to distances") {
    CHECK(distance_of({Metric::l2, 2}, 4'294'966'275U) == 4'294'966'275.0);
    CHECK(distance_of({Metric::l1, 2}, 199'920) == 199'920);
    CHECK(distance_of({Metric::cosine, 2}, std::bit_cast<std::uint32_t>(0.25f)) == 0.25);
    CHECK(distance_of({Metric::pearson, 2}, std::bit_cast<std::uint32_t>(1.75f)) == 1.75);
    CHECK(distance_of({Metric::lp, 1}, std::bit_cast<std::uint32_t>(3.0f)) == doctest::Approx(765));
    CHECK(distance_of({Metric::lp, 2}, std::bit_cast<std::uint32_t>(4.0f)) == doctest::Approx(510));
    CHECK(distance_of({Metric::lp, 0.5}, std::bit_cast<std::uint32_t>(4.0f)) == doctest::Approx(16 * 255));
    CHECK(std::isfinite(distance_of({Metric::lp, min_p}, std::bit_cast<std::uint32_t>(float(max_dim)))));
}

TEST_CASE("votes by distance count 1/d^2 of the metric's distance") {
    CHECK(inverse_square({Metric::l2, 2}, 8) == 0.125);
    CHECK(inverse_square({Metric::l1, 2}, 8) == 1.0 / 64);
    CHECK(inverse_square({Metric::cosine, 2}, std::bit_cast<std::uint32_t>(0.25f)) == 16);
    CHECK(inverse_square({Metric::pearson, 2}, std::bit_cast<std::uint32_t>(2.0f)) == 0.25);
    CHECK(inverse_square({Metric::lp, 3}, std::bit_cast<std::uint32_t>(8.0f)) ==
          doctest::Approx(1.0 / (510 * 510)));
    const auto least = std::bit_cast<std::uint32_t>(0x1p-53f), most = std::bit_cast<std::uint32_t>(66'051.0f);
    CHECK(std::isfinite(inverse_square({Metric::cosine, 2}, least)));
    CHECK(inverse_square({Metric::lp, min_p}, most) > 0);
}

TEST_CASE("exponents out of range are refused, where there is one") {
    Problem problem{10, 1, 4, 1, {Metric::lp, 3}};
    CHECK_FALSE(refuse_problem(problem).has_value());
    for (const double p : {0.0, -1.0, 0.09, 15.1, std::nan(""), double(INFINITY)}) {
        problem.measure.p = p;
        problem.measure.metric = Metric::lp;
        REQUIRE(refuse_problem(problem).has_value());
        CHECK(refuse_problem(problem)->find("0.1 to 15") != std::string::npos);
        problem.measure.metric = Metric::l1;
        CHECK_FALSE(refuse_problem(problem).has_value());
    }
}

TEST_CASE("problem: the last sizes that are taken, and the first that are not") {
    struct Row {
        Problem taken;
        std::optional<Problem> refused = {};
    };
    for (const auto& [taken, refused] :
         {Row{{1'000, 10, 784, 1}, Problem{1'000, 10, 784, 0}},
          {{1, 10, 784, 1}},
          {{4'294'967'294, 10, 784, 5}, Problem{4'294'967'295, 10, 784, 5}},
          {{1'000, 10, 1, 5}, Problem{1'000, 10, 0, 5}},
          {{1'000, 10, 66'051, 5}, Problem{1'000, 10, 66'052, 5}},
          {{1'000, 10, 784, 1'000}, Problem{1'000, 10, 784, 1'001}},
          {{20'000, 10, 784, 16'384}, Problem{20'000, 10, 784, 16'385}},
          {{1'000, 10, 65'536, 5, {}, ElementType::float32},
           Problem{1'000, 10, 65'537, 5, {}, ElementType::float32}},
          {{1'000, 10, 784, 5, {Metric::lp, 0.1}}, Problem{1'000, 10, 784, 5, {Metric::lp, 0.09}}},
          {{1'000, 10, 784, 5, {Metric::lp, 15}}, Problem{1'000, 10, 784, 5, {Metric::lp, 15.1}}}}) {
        CHECK_FALSE(refuse_problem(taken).has_value());
        if (refused) CHECK(refuse_problem(*refused).has_value());
    }
}

TEST_CASE("problem: a refusal names what is wrong") {
    CHECK(refuse_problem({0, 10, 784, 0}).value() == "there are no training images");
    CHECK(refuse_problem({10, 10, 0, 5}).value() == "the images have no pixels");
    CHECK(refuse_problem({10, 10, 784, 11})
              .value()
              .ends_with("expected at most 10, the rows that can be neighbors"));
}
