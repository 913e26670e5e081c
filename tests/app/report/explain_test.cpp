#include "app/report/explain.h"

#include <doctest/doctest.h>

using namespace knn;

TEST_CASE("the explanation says how many neighbors it does not show") {
    const std::string all = "nearest training images: label, number, squared distance";
    CHECK(neighbors_heading(1, Method{.measure = {Metric::l2}}) == all);
    CHECK(neighbors_heading(20, Method{.measure = {Metric::l2}}) == all);
    CHECK(neighbors_heading(21, Method{.measure = {Metric::l2}}) == all + "; and 1 more");
    CHECK(neighbors_heading(1024, Method{.measure = {Metric::l2}}) == all + "; and 1,004 more");
}
