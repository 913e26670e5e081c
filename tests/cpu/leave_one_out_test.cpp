// Leave-one-out: a query that is a training image is not its own neighbor.

#include <doctest/doctest.h>

#include "tests/support/oracle.h"
#include "tests/support/search.h"

namespace knn {

namespace {

/// The k nearest of each query among all points except the excluded one, by the oracle.
Neighbors right(const test::Rows& points, const test::Rows& queries, int k, Exclude exclude,
                const Measure& measure = {}) {
    const auto all = test::nearest(points, queries, static_cast<int>(points.n), measure);
    Neighbors found(queries.n, k);
    for (std::int64_t q = 0; q < queries.n; ++q) {
        auto out = found.row(q).begin();
        for (const auto& [distance, index] : all[static_cast<std::size_t>(q)])
            if (index != exclude.index_of(q) && out != found.row(q).end())
                *out++ = {static_cast<std::uint32_t>(distance), static_cast<std::uint32_t>(index)};
    }
    return found;
}

test::Request request_for(const test::Rows& points, const test::Rows& queries, int k, Exclude exclude) {
    test::Request request;
    request.train = {points.pixels.data(), points.n, points.dim};
    request.query = {queries.pixels.data(), queries.n, queries.dim};
    request.k = k;
    request.exclude = exclude;
    return request;
}

test::Rows slice(const test::Rows& points, std::int64_t first, std::int64_t n) {
    const auto begin = points.pixels.begin() + first * points.dim;
    return {{begin, begin + n * points.dim}, n, points.dim};
}

}  // namespace

TEST_CASE("exclude: points with many duplicates, every k, few and many queries") {
    constexpr std::int64_t n = 60;
    const std::vector<std::uint8_t> labels(n);
    for (const int levels : {1, 2, 3, 256})  // with 1, all points are equal
        for (const int k : {1, 4, 20, 59})
            for (const char* select : {"", "nth_element"})
                for (const auto& part : {std::pair{0, 60}, {0, 5}, {41, 19}, {59, 1}}) {
                    CAPTURE(levels);
                    CAPTURE(k);
                    CAPTURE(part.first);
                    const test::Rows points = test::random_rows(n, 2, 5, levels);
                    const test::Rows queries = slice(points, part.first, part.second);
                    test::Request request = request_for(points, queries, k, {.first = part.first});
                    request.train_labels = labels;
                    request.select = select;
                    CHECK(test::search_on_cpu(request).neighbors.rows ==
                          right(points, queries, k, request.exclude).rows);
                }
}

TEST_CASE("exclude: k = 1024 of 1025 points, by every metric") {
    const test::Rows points = test::random_rows(1025, 12, 6, 4);
    const std::vector<std::uint8_t> labels(1025);
    const test::Rows queries = slice(points, 1000, 25);
    for (const Metric metric : {Metric::l2, Metric::l1, Metric::lp, Metric::cosine, Metric::pearson}) {
        CAPTURE(name(metric));
        test::Request request = request_for(points, queries, 1024, {.first = 1000});
        request.train_labels = labels;
        request.measure = {metric, 3};
        CHECK(test::search_on_cpu(request).neighbors.rows ==
              right(points, queries, 1024, request.exclude, request.measure).rows);
    }
}

TEST_CASE("exclude: a sample spread over the training set") {
    const test::Rows points = test::random_rows(70, 3, 7, 3);
    const std::vector<std::uint8_t> labels(70);
    const Exclude exclude{0, 70, 20};
    test::Rows queries{{}, 20, 3};
    for (std::int64_t i = 0; i < 20; ++i) {
        CHECK(exclude.index_of(i) == i * 70 / 20);
        const test::Rows one = slice(points, exclude.index_of(i), 1);
        queries.pixels.insert(queries.pixels.end(), one.pixels.begin(), one.pixels.end());
    }
    test::Request request = request_for(points, queries, 9, exclude);
    request.train_labels = labels;
    CHECK(test::search_on_cpu(request).neighbors.rows == right(points, queries, 9, exclude).rows);
}

TEST_CASE("exclude: fewer than k others are an error of the caller") {
    const test::Rows points = test::random_rows(5, 3, 8);
    const std::vector<std::uint8_t> labels(5);
    test::Request request = request_for(points, points, 5, {.first = 0});
    request.train_labels = labels;
    CHECK_THROWS_AS(test::search_on_cpu(request), std::invalid_argument);
    request.exclude = {};
    CHECK(test::search_on_cpu(request).neighbors.rows.size() == 25);
}

}  // namespace knn
