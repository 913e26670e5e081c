#include "app/report/text.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>

#include "data/core/format.h"

using namespace knn;

TEST_CASE("distances of integers are integers in files") {
    for (const Metric metric : {Metric::l2, Metric::l1})
        for (const std::uint32_t score : {0u, 1u, 50'979'600u, 4'294'967'295u}) {
            CHECK(distance_number({metric, 2}, score) == score);
            CHECK(shortest(distance_number({metric, 2}, score)) == std::to_string(score));
        }
}

TEST_CASE("distances of cosine and pearson are their floats") {
    for (const float value : {0.0f, 0.1f, 1.0f, 1.9999999f, 3e-9f})
        CHECK(static_cast<float>(distance_number({Metric::cosine, 2}, std::bit_cast<std::uint32_t>(value))) ==
              value);
    CHECK(shortest(distance_number({Metric::pearson, 2}, std::bit_cast<std::uint32_t>(0.1f))) == "0.1");
}

TEST_CASE("Minkowski distances have the fewest digits that identify the score") {
    std::mt19937 random(7);
    for (const double p : {0.1, 0.5, 2.0, 3.0, 15.0}) {
        const Measure measure{Metric::lp, p};
        CHECK(distance_number(measure, 0) == 0);
        std::uniform_real_distribution<float> sum(1e-4f, 66'051);
        std::size_t most = 0;
        for (int i = 0; i < 300; ++i) {
            const auto score = std::bit_cast<std::uint32_t>(i == 0 ? 66'051.0f : i == 1 ? 1.0f : sum(random));
            const double distance = distance_number(measure, score);
            CAPTURE(p);
            CAPTURE(distance);
            REQUIRE(std::isfinite(distance));
            // The order of scores is the order of the numbers, and the score can be read back.
            CHECK(distance_number(measure, score - 1) < distance);
            CHECK(distance < distance_number(measure, score + 1));
            CHECK(std::bit_cast<std::uint32_t>(static_cast<float>(std::pow(distance / 255, p))) == score);
            std::size_t digits = 0;
            const std::string text = shortest(distance);
            for (const char c : text.substr(0, text.find('e')))
                digits += c != '.' ? 1u : 0u;
            if (distance < 1e9) most = std::max(most, digits);
        }
        CHECK(most <= (p > 1 ? 10 : 9));
    }
    CHECK(shortest(distance_number({Metric::lp, 3}, std::bit_cast<std::uint32_t>(1.0f))) == "255");
}
