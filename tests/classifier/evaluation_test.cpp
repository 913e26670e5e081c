#include "classifier/evaluation.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "tests/support/points.h"

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
