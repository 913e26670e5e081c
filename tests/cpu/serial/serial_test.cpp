#include "cpu/serial/serial.h"

#include <doctest/doctest.h>

#include "data/core/errors.h"
#include "tests/support/battery.h"

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
    const Rows train_rows{train.pixels.data(), train.n, train.dim};
    const Rows query_rows{query.pixels.data(), query.n, query.dim};
    TrialOptions options;
    options.repeat = 2;
    for (const int k : {1, 5, 299, 300}) {
        const auto right = test::nearest(train, query, k);
        for (const cpu::SerialSelector& selector : cpu::serial_selectors()) {
            CAPTURE(selector.name);
            const cpu::SerialTrial trial =
                cpu::time_serial({train_rows.count, query_rows.count, train_rows.dim, k}, train_rows,
                                 query_rows, selector, options, {});
            CHECK(!trial.select.refusal);
            CHECK(trial.select.n_query == 9);
            CHECK(trial.select.ms.size() == 2);
            CHECK(trial.distance.ms.size() == 2);
            for (std::int64_t q = 0; q < trial.neighbors.n_query; ++q)
                for (int i = 0; i < k; ++i) {
                    CHECK(trial.neighbors.row(q)[i].distance == right[q][i].first);
                    CHECK(trial.neighbors.row(q)[i].index == right[q][i].second);
                }
        }
    }
    CHECK(cpu::find_serial_selector("nth_element") == &cpu::serial_selectors().front());
    CHECK(cpu::find_serial_selector("bitonic") == nullptr);
}

TEST_CASE("a bitonic sort without padding is right for powers of two alone") {
    std::vector<std::uint64_t> scratch;
    const auto sorted = [&](std::uint32_t n) {
        std::vector<std::uint32_t> row(n);
        for (std::uint32_t i = 0; i < n; ++i)
            row[i] = (n - i) * 2654435761u >> 20;
        std::vector<Neighbor> out(n), right(n);
        cpu::unpadded_bitonic(row, out, scratch);
        cpu::find_serial_selector("serial_sort")->select(row, right, scratch);
        return out == right;
    };
    for (const std::uint32_t n : {1, 2, 4, 64, 1024})
        CHECK(sorted(n));
    for (const std::uint32_t n : {23, 100, 1000})
        CHECK(!sorted(n));
}

TEST_CASE("too little time means fewer queries, and the trial says how many") {
    const test::Rows train = test::random_rows(20'000, 64, 1), query = test::random_rows(500, 64, 2);
    TrialOptions options;
    options.budget_ms = 0.01;
    const cpu::SerialTrial trial = cpu::time_serial(
        {train.n, query.n, train.dim, 3}, {train.pixels.data(), train.n, train.dim},
        {query.pixels.data(), query.n, query.dim}, cpu::serial_selectors().front(), options, {});
    CHECK(trial.select.n_query == 1);
    CHECK(trial.select.ms.size() == 3);
    CHECK(trial.neighbors.n_query == 1);
    CHECK(trial.neighbors.rows.size() == 3);
}

TEST_CASE("the serial search stops when it is told to") {
    const test::Rows rows = test::random_rows(10, 4, 1);
    const Rows images{rows.pixels.data(), rows.n, rows.dim};
    const std::atomic<bool> stop = true;
    Watch watch;
    watch.stop = &stop;
    CHECK_THROWS_AS(cpu::time_serial({images.count, images.count, images.dim, 1}, images, images,
                                     cpu::serial_selectors().front(), {}, watch),
                    Interrupted);
}

TEST_CASE("the largest distances fit the serial sums") {
    const std::int64_t dim = max_dim;
    const std::vector<std::uint8_t> black(static_cast<std::size_t>(dim), 0),
        white(static_cast<std::size_t>(dim), 255);
    std::uint32_t distance = 0;
    cpu::serial_distances({white.data(), 1, dim}, black.data(), {&distance, 1});
    CHECK(distance == static_cast<std::uint32_t>(dim * 255 * 255));
}

}  // namespace knn
