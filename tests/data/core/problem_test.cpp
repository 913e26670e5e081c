#include "data/core/problem.h"

#include <doctest/doctest.h>

using namespace knn;

TEST_CASE("problem: the last sizes that are taken, and the first that are not") {
    const Problem usual{1'000, 10, 784, 5};
    const auto taken = [&](auto change) {
        Problem problem = usual;
        change(problem);
        return !refuse_problem(problem).has_value();
    };
    CHECK(taken([](Problem&) {}));
    CHECK(taken([](Problem& p) { p.n_train = p.k = 1; }));
    CHECK(taken([](Problem& p) { p.n_train = 4'294'967'294; }));
    CHECK(!taken([](Problem& p) { p.n_train = 4'294'967'295; }));
    CHECK(taken([](Problem& p) { p.dim = 1; }));
    CHECK(!taken([](Problem& p) { p.dim = 0; }));
    CHECK(taken([](Problem& p) { p.dim = 66'051; }));
    CHECK(!taken([](Problem& p) { p.dim = 66'052; }));
    CHECK(taken([](Problem& p) { p.k = 1; }));
    CHECK(!taken([](Problem& p) { p.k = 0; }));
    CHECK(taken([](Problem& p) { p.k = 1'000; }));
    CHECK(!taken([](Problem& p) { p.k = 1'001; }));
    CHECK(taken([](Problem& p) { p.n_train = 2'000, p.k = 1'024; }));
    CHECK(!taken([](Problem& p) { p.n_train = 2'000, p.k = 1'025; }));
    for (const double exponent : {0.1, 15.0})
        CHECK(taken([&](Problem& p) { p.measure = {Metric::lp, exponent}; }));
}

TEST_CASE("problem: a refusal names what is wrong") {
    CHECK(refuse_problem({0, 10, 784, 0}).value() == "there are no training images");
    CHECK(refuse_problem({10, 10, 0, 5}).value() == "the images have no pixels");
    CHECK(refuse_problem({10, 10, 784, 11}).value().find("expected 1 to 10 ") != std::string::npos);
}
