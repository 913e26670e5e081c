#include "classifier/statistics.h"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace knn;

namespace {

std::vector<Vote> votes_for(const std::vector<int>& labels) {
    std::vector<Vote> votes;
    for (const int label : labels)
        votes.push_back({static_cast<std::uint8_t>(label), 1.0});
    return votes;
}

}  // namespace

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
