#include "cpu/work.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "cpu/pack.h"

namespace knn {
namespace {

TEST_CASE("cpu::Work: every pair of a query and a unit is dealt out once") {
    for (const std::int64_t n_query : {1, 3, 8, 63, 64, 65, 100, 500, 512, 513, 5'000})
        for (const std::int64_t units : {1, 2, 5, 77})
            for (const int threads : {1, 2, 3, 64})
                for (const std::int64_t largest : {8, 64, 512})
                    for (const std::int64_t max_slices : {1, 3, 1'000}) {
                        CAPTURE(n_query);
                        CAPTURE(units);
                        CAPTURE(threads);
                        cpu::Work work(n_query, units, threads, 8, largest, max_slices);
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
                        CHECK(work.slices() <= max_slices);
                    }
}

TEST_CASE("cpu::Work: few queries still give every thread something to do") {
    for (const int threads : {2, 16, 64}) {
        cpu::Work work(1, 1'000, threads, 8, 512, 1'000);
        int tasks = 0;
        while (work.next())
            ++tasks;
        CHECK(tasks >= threads);
    }
}

TEST_CASE("cpu::Work: a block is at most half of what is left for a thread, so the last ones are small") {
    constexpr std::int64_t strip = 8, few = 64;
    for (const auto& [threads, largest] : {std::pair{2, 512}, {4, 100'000}}) {
        cpu::Work work(10'000, 100, threads, strip, largest, 1'000);
        REQUIRE(work.slices() == 1);
        std::int64_t left = 10'000;
        while (const auto task = work.next()) {
            const std::int64_t half = std::max(few, round_up(left / (2 * threads), strip));
            CHECK(task->n_query <= std::min<std::int64_t>(half, largest));
            if (left == 10'000 && largest == 512) CHECK(task->n_query == 512);
            left -= task->n_query;
        }
        CHECK(left == 0);
    }
}

/// Work of the busiest thread / mean work, if every thread takes the next task as soon as it finishes one. A
/// strip costs the same for any number of queries in it.
double imbalance(std::int64_t n_query, int threads, std::int64_t strip, std::int64_t max_slices) {
    constexpr std::int64_t units = 1'875;
    cpu::Work work(n_query, units, threads, strip, 1'024, max_slices);
    std::vector<std::int64_t> busy(static_cast<std::size_t>(threads));
    while (const auto task = work.next())
        *std::min_element(busy.begin(), busy.end()) +=
            round_up(task->n_query, strip) * (task->last_unit - task->first_unit);
    const double average = static_cast<double>(n_query * units) / threads;
    return static_cast<double>(*std::max_element(busy.begin(), busy.end())) / average;
}

TEST_CASE("cpu::Work: no thread waits long for the others, be they 2 or 64") {
    for (const std::int64_t strip : {4, 6, 8, 32})
        for (const int threads : {1, 2, 3, 16, 64}) {
            CAPTURE(strip);
            CAPTURE(threads);
            for (const std::int64_t n_query : {1'000, 10'000, 60'000})
                CHECK(imbalance(n_query, threads, strip, 1'000) < (n_query < 10'000 ? 1.3 : 1.1));
            CHECK(imbalance(10'000, threads, strip, 1) < 1.3);
        }
}

}  // namespace
}  // namespace knn
