#include "app/report/answers.h"

#include <doctest/doctest.h>

using namespace knn;

TEST_CASE("the explanation says how many neighbors it does not show") {
    const std::string all = "nearest training images: label, number, squared distance";
    CHECK(neighbors_heading(1, Method{.measure = {Metric::l2}}) == all);
    CHECK(neighbors_heading(20, Method{.measure = {Metric::l2}}) == all);
    CHECK(neighbors_heading(21, Method{.measure = {Metric::l2}}) == all + "; and 1 more");
    CHECK(neighbors_heading(1024, Method{.measure = {Metric::l2}}) == all + "; and 1,004 more");
}

TEST_CASE("the explanation says where neighbors were before re-ranking") {
    const Method accurate{.transform = {{{TransformKind::gradients, 0}}}, .rerank = {.kind = Reranker::both}};
    CHECK(candidates_heading(96, accurate) ==
          "before re-ranking, of 96: label, number, squared distance of features");
    Answer answer;
    answer.candidates = {{10, 7}, {20, 5}, {30, 900}};
    CHECK(rank_before(answer, {1, 900}) == "was 3 of 3");
    CHECK(rank_before(answer, {1, 7}) == "was 1 of 3");
}
