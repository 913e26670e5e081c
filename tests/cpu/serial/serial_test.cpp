#include "cpu/serial/serial.h"

#include "data/core/errors.h"
#include "tests/support/battery.h"
#include "tests/support/points.h"
#include "tests/support/test.h"

namespace knn {

TEST_CASE("nth_element answers the battery") {
    test::check_engine(
        "nth_element",
        [](test::Request request) {
            request.select = "nth_element";
            return test::search_on_cpu(request);
        },
        [](test::Request request) {
            request.select = "nth_element";
            return test::refuse(*find_engine("cpu"), request);
        },
        {});
}

TEST_CASE("every serial selector finds the k smallest in order") {
    const test::Rows train = test::random_rows(300, 5, 1, 3), query = test::random_rows(9, 5, 2, 3);
    TrialOptions options;
    options.repeat = 2;
    for (const int k : {1, 5, 299, 300}) {
        const Neighbors right = test::right(train, query, k);
        for (const cpu::SerialSelector& selector : cpu::serial_selectors()) {
            CAPTURE(selector.name);
            const cpu::SerialTrial trial = cpu::time_serial(
                {train.n, query.n, train.dim, k}, cpu::serial_rows(test::view(train), test::view(query)),
                selector, options, {});
            CHECK(!trial.select.refusal);
            CHECK(trial.select.n_query == 9);
            CHECK(trial.select.ms.size() == 2);
            CHECK(trial.distance.ms.size() == 2);
            CHECK(trial.select.found.rows == right.rows);
        }
    }
    CHECK(cpu::find_serial_selector("nth_element") == &cpu::serial_selectors().front());
    CHECK(cpu::find_serial_selector("bitonic") == nullptr);
}

TEST_CASE("half of the pairs are computed for all queries, and no point is its own neighbor") {
    const test::Rows points = test::random_rows(120, 5, 1, 3);
    for (const std::int64_t n_query : {120, 1, 70}) {
        const test::Rows query = test::taken(points, {.first = 0}, n_query);
        TrialOptions options;
        options.repeat = 2;
        for (const cpu::SerialSelector& selector : cpu::serial_selectors()) {
            CAPTURE(std::string(selector.name));
            const cpu::SerialTrial trial = cpu::time_serial(
                {120, n_query, 5, 7}, cpu::half_of_rows(test::view(points)), selector, options, {});
            REQUIRE(trial.select.n_query == n_query);
            CHECK(trial.distance.n_query == 2 * n_query - n_query * n_query / 120);
            CHECK(trial.select.found.rows == test::right(points, query, 7, {.first = 0}).rows);
        }
    }
}

TEST_CASE("a bitonic sort in blocks of 2,048 keys finds the nearest of the first 2,048") {
    std::vector<std::uint64_t> scratch;
    std::vector<std::uint32_t> row(5'000);
    for (std::uint32_t i = 0; i < row.size(); ++i)
        row[i] = i * 2654435761u >> 20;
    std::vector<Neighbor> found(2'048), right(2'048);
    cpu::find_wrong_sort("bitonic_blocks")->select(row, found, scratch);
    cpu::find_serial_selector("serial_sort")->select(std::span(row).first(2'048), right, scratch);
    CHECK(found == right);
    CHECK(cpu::find_wrong_sort("serial_sort") == nullptr);
}

TEST_CASE("a bitonic sort without padding is right for powers of two alone") {
    std::vector<std::uint64_t> scratch;
    const auto sorted = [&](std::uint32_t n) {
        std::vector<std::uint32_t> row(n);
        for (std::uint32_t i = 0; i < n; ++i)
            row[i] = (n - i) * 2654435761u >> 20;
        std::vector<Neighbor> out(n), right(n);
        cpu::find_wrong_sort("bitonic_unpadded")->select(row, out, scratch);
        cpu::find_serial_selector("serial_sort")->select(row, right, scratch);
        return out == right;
    };
    for (const std::uint32_t n : {1, 2, 4, 64, 1024})
        CHECK(sorted(n));
    for (const std::uint32_t n : {23, 100, 1000})
        CHECK(!sorted(n));
}

TEST_CASE("too little time means fewer queries, and the trial says how many, and a stop ends it") {
    const test::Rows train = test::random_rows(20'000, 64, 1), query = test::random_rows(500, 64, 2);
    TrialOptions options;
    options.budget_ms = 0.01;
    const auto timed = [&](const ProgressToken& token) {
        return cpu::time_serial({train.n, query.n, train.dim, 3},
                                cpu::serial_rows(test::view(train), test::view(query)),
                                cpu::serial_selectors().front(), options, token);
    };
    const cpu::SerialTrial trial = timed({});
    CHECK(trial.select.n_query == 1);
    CHECK(trial.select.ms.size() == 3);
    CHECK(trial.select.found.n_query == 1);
    CHECK(trial.select.found.rows.size() == 3);
    const std::atomic<bool> stop = true;
    CHECK_THROWS_AS(timed({.progress = {}, .stop = &stop}), Interrupted);
    CHECK_THROWS_AS(cpu::copy_gb_per_s({.progress = {}, .stop = &stop}), Interrupted);
}

}  // namespace knn
