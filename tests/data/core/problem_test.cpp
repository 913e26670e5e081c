#include "data/core/problem.h"

#include <doctest/doctest.h>

using namespace knn;

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
          {{2'000, 10, 784, 1'024}, Problem{2'000, 10, 784, 1'025}},
          {{1'000, 10, 784, 5, {Metric::lp, 0.1}}, Problem{1'000, 10, 784, 5, {Metric::lp, 0.09}}},
          {{1'000, 10, 784, 5, {Metric::lp, 15}}, Problem{1'000, 10, 784, 5, {Metric::lp, 15.1}}}}) {
        CHECK_FALSE(refuse_problem(taken).has_value());
        if (refused) CHECK(refuse_problem(*refused).has_value());
    }
}

TEST_CASE("problem: a refusal names what is wrong") {
    CHECK(refuse_problem({0, 10, 784, 0}).value() == "there are no training images");
    CHECK(refuse_problem({10, 10, 0, 5}).value() == "the images have no pixels");
    CHECK(refuse_problem({10, 10, 784, 11}).value().find("expected 1 to 10 ") != std::string::npos);
}
