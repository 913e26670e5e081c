#include "cpu/work.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace knn {
namespace {

TEST_CASE("cpu::Work: every pair of a query and a unit is dealt out once") {
    for (const std::int64_t n_query : {1, 3, 8, 63, 64, 65, 100, 500, 512, 513, 5'000})
        for (const std::int64_t units : {1, 2, 5, 77})
            for (const int threads : {1, 2, 3, 64})
                for (const std::int64_t largest : {8, 64, 512}) {
                    CAPTURE(n_query);
                    CAPTURE(units);
                    CAPTURE(threads);
                    cpu::Work work(n_query, units, threads, 8, largest);
                    std::vector<int> seen(static_cast<std::size_t>(n_query * units));
                    while (const auto task = work.next()) {
                        REQUIRE(task->n_query >= 1);
                        REQUIRE(task->n_query <= work.largest());
                        REQUIRE(task->slice < work.slices());
                        for (std::int64_t q = 0; q < task->n_query; ++q)
                            for (std::int64_t u = task->first_unit; u < task->last_unit; ++u)
                                ++seen[static_cast<std::size_t>((task->first_query + q) * units + u)];
                    }
                    CHECK(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
                    CHECK(work.largest() <= largest);
                }
}

TEST_CASE("cpu::Work: few queries still give every thread something to do") {
    for (const int threads : {2, 16, 64}) {
        cpu::Work work(1, 1'000, threads, 8, 512);
        int tasks = 0;
        while (work.next())
            ++tasks;
        CHECK(tasks >= threads);
    }
}

TEST_CASE("cpu::Work: the last blocks are small") {
    cpu::Work work(10'000, 100, 2, 8, 512);
    CHECK(work.slices() == 1);
    std::int64_t first = 0, last = 0;
    while (const auto task = work.next()) {
        if (first == 0) first = task->n_query;
        last = task->n_query;
    }
    CHECK(first == 512);
    CHECK(last <= 64);
}

}  // namespace
}  // namespace knn
