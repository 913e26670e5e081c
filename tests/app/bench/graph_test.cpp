#include <doctest/doctest.h>

#include "app/bench/cases.h"
#include "cpu/search.h"
#include "tests/support/oracle.h"

namespace knn {

namespace {

Neighbors row_of(std::initializer_list<Neighbor> row) {
    Neighbors found(1, static_cast<int>(row.size()));
    std::copy(row.begin(), row.end(), found.rows.begin());
    return found;
}

}  // namespace

TEST_CASE("a point is not its own neighbor") {
    const Neighbors found = row_of({{0, 0}, {4, 7}, {9, 2}});
    const Neighbors edges = nearest_others(found);
    CHECK(edges.k == 2);
    CHECK(edges.rows == std::vector<Neighbor>{{4, 7}, {9, 2}});
}

TEST_CASE("a point that equal points have pushed out of its own neighbors loses the last of them") {
    Neighbors found(4, 3);  // four equal points; for each the three with the lowest indices
    for (std::int64_t q = 0; q < 4; ++q)
        for (std::uint32_t i = 0; i < 3; ++i)
            found.row(q)[i] = {0, i};
    const Neighbors edges = nearest_others(found);
    CHECK(edges.rows ==
          std::vector<Neighbor>{{0, 1}, {0, 2}, {0, 0}, {0, 2}, {0, 0}, {0, 1}, {0, 0}, {0, 1}});
    CHECK(nearest_others(row_of({{1, 5}})).rows.empty());  // k = 0
}

TEST_CASE("the graph of points with many duplicates is that of a search among the others") {
    constexpr std::int64_t n = 60;
    for (const int levels : {1, 2, 3, 256})  // 1: all points are equal
        for (const int k : {1, 4, 20, 59}) {
            CAPTURE(levels);
            CAPTURE(k);
            const test::Rows points = test::random_rows(n, 2, 5, levels);
            const auto all = test::nearest(points, points, static_cast<int>(n));
            SearchRequest request;
            request.train = request.query = {points.pixels.data(), n, 2};
            const std::vector<std::uint8_t> labels(n);
            request.train_labels = labels;
            request.k = k + 1;
            const Neighbors edges = nearest_others(cpu::search(request, {}).neighbors);
            for (std::int64_t q = 0; q < n; ++q) {
                std::vector<Neighbor> right;
                for (const auto& [distance, index] : all[static_cast<std::size_t>(q)])
                    if (index != q)
                        right.push_back(
                            {static_cast<std::uint32_t>(distance), static_cast<std::uint32_t>(index)});
                right.resize(static_cast<std::size_t>(k));
                const auto row = edges.row(q);
                CHECK(std::equal(row.begin(), row.end(), right.begin(), right.end()));
            }
        }
}

}  // namespace knn
