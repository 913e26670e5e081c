#include "cpu/work.h"

#include "cpu/pack.h"
#include "tests/support/test.h"

namespace knn {
namespace {

/// How often each pair of a query and a unit is dealt out, if all tasks are taken before the second units of any.
std::vector<int> seen_of(cpu::Work& work, std::int64_t n_query, std::int64_t units) {
    std::vector<int> seen(static_cast<std::size_t>(n_query * units));
    std::vector<cpu::Task> tasks;
    while (const auto task = work.next()) {
        REQUIRE(task->n_query >= 1);
        REQUIRE(task->n_query <= work.largest());
        REQUIRE(task->slice < work.slices());
        tasks.push_back(*task);
    }
    while (!tasks.empty())
        std::erase_if(tasks, [&](cpu::Task& task) {
            for (std::int64_t q = 0; q < task.n_query; ++q)
                for (std::int64_t u = task.first_unit; u < task.last_unit; ++u)
                    ++seen[static_cast<std::size_t>((task.first_query + q) * units + u)];
            const std::int64_t before = task.last_unit;
            if (!work.more(task)) return true;
            CHECK(task.first_unit >= before);
            return false;
        });
    return seen;
}

TEST_CASE("cpu::Work: every pair of a query and a unit is dealt out once") {
    for (const std::int64_t n_query : {1, 3, 8, 63, 64, 65, 100, 500, 512, 513, 5'000})
        for (const std::int64_t units : {1, 2, 5, 77})
            for (const int threads : {1, 2, 3, 64})
                for (const std::int64_t largest : {8, 64, 512})
                    for (const std::int64_t max_slices : {1, 3, 1'000}) {
                        CAPTURE(n_query);
                        CAPTURE(units);
                        CAPTURE(threads);
                        for (const bool spares_slices : {false, true}) {
                            CAPTURE(spares_slices);
                            cpu::Work work(n_query, units, threads, 8, largest, max_slices, spares_slices);
                            CHECK(seen_of(work, n_query, units) ==
                                  std::vector<int>(static_cast<std::size_t>(n_query * units), 1));
                            CHECK(work.largest() <= largest);
                            CHECK(work.slices() <= std::min<std::int64_t>(max_slices, threads));
                        }
                    }
}

TEST_CASE("cpu::Work: where slices are spared, each thread has queries of its own, if there are enough") {
    for (const int threads : {1, 2, 3, 16})
        for (const std::int64_t n_query : {1, 8, 16, 32, 200, 1'000}) {
            CAPTURE(threads);
            CAPTURE(n_query);
            cpu::Work work(n_query, 1'250, threads, 8, 512, 1'000, true);
            std::vector<std::int64_t> sizes;
            while (const auto task = work.next())
                if (task->slice == 0) sizes.push_back(task->n_query);
            const bool enough = n_query >= 8 * threads;
            CHECK((work.slices() == 1) == (std::ssize(sizes) >= threads));
            if (enough)
                CHECK(std::ssize(sizes) >= std::min<std::int64_t>(threads, 2 * n_query / (8 * threads)));
        }
    cpu::Work two(32, 1'250, 2, 8, 512, 1'000, true);
    CHECK(two.next()->n_query == 16);
    CHECK(two.next()->n_query == 16);
    CHECK_FALSE(two.next());
    cpu::Work few(8, 1'250, 2, 8, 512, 1'000, true);
    CHECK(few.slices() == 2);
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

/// Work of the busiest thread / mean work, if every thread takes the next units, or the next task, as soon as it has done its own. A
/// strip costs the same for any number of queries in it.
double imbalance(std::int64_t n_query, int threads, std::int64_t strip, std::int64_t max_slices) {
    constexpr std::int64_t units = 1'875;
    struct Thread {
        std::int64_t busy = 0;
        std::optional<cpu::Task> task;
    };
    cpu::Work work(n_query, units, threads, strip, 1'024, max_slices);
    std::vector<Thread> all(static_cast<std::size_t>(threads));
    std::vector<Thread*> working;
    for (Thread& one : all)
        working.push_back(&one);
    while (!working.empty()) {
        const auto next = std::ranges::min_element(working, {}, &Thread::busy);
        Thread& one = **next;
        if (!one.task || !work.more(*one.task)) one.task = work.next();
        if (one.task)
            one.busy += round_up(one.task->n_query, strip) * (one.task->last_unit - one.task->first_unit);
        else
            working.erase(next);
    }
    const double average = static_cast<double>(n_query * units) / threads;
    return static_cast<double>(std::ranges::max_element(all, {}, &Thread::busy)->busy) / average;
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
