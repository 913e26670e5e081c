#include "data/rerank/descriptor.h"

#include <doctest/doctest.h>

#include <cmath>

#include "cpu/rerank/rerank.h"
#include "data/rerank/distance.h"
#include "tests/support/rerank_images.h"
#include "tests/support/rerank_oracle.h"

namespace knn {
namespace {

TEST_CASE(
    "rerank: the levels of every gradient are those of exact arithmetic, and short enough for 16-bit sums") {
    int longest = 0;
    for (int x = 0; x <= 1020; ++x)
        for (int y = 0; y <= 1020; ++y) {
            const int square = x * x + y * y, root = integer_root(square);
            REQUIRE((root * root <= square && square < (root + 1) * (root + 1)));
            const int divisor = gradient_divisor(x, y);
            REQUIRE(divisor == root + 204);
            const int level_x = gradient_level(x, divisor), level_y = gradient_level(-y, divisor);
            REQUIRE(level_x == std::lround(std::floor(5.0 * x / divisor + 0.5)));
            REQUIRE(level_y == -gradient_level(y, divisor));
            longest = std::max(longest, level_x * level_x + level_y * level_y);
        }
    CHECK(longest == 25);
}

/// The least sum over all displacements by the definition, the shortest first; empty where the query has nothing.
std::vector<Move> moves_by_definition(const test::RerankMaps& query, const test::RerankMaps& candidate) {
    const ImageShape shape = query.shape;
    const auto value = [](const test::Plane& map, int x, int y) { return map.at(y, x); };
    std::vector<Move> all;
    for (int y = 0; y < shape.rows; y += 2)
        for (int x = 0; x < shape.cols; x += 2) {
            if (value(query.x, x, y) == 0 && value(query.y, x, y) == 0) continue;
            std::int64_t least = -1;
            Move best{};
            for (int square = 0; square <= 8; ++square)
                for (int dy = -2; dy <= 2; ++dy)
                    for (int dx = -2; dx <= 2; ++dx) {
                        if (dx * dx + dy * dy != square) continue;
                        std::int64_t sum = 0;
                        for (int j = -1; j <= 1; ++j)
                            for (int i = -1; i <= 1; ++i) {
                                const int u = x + 2 * i, v = y + 2 * j;
                                const std::int64_t a =
                                    value(query.x, u, v) - value(candidate.x, u + dx, v + dy);
                                const std::int64_t b =
                                    value(query.y, u, v) - value(candidate.y, u + dx, v + dy);
                                sum += a * a + b * b;
                            }
                        if (least >= 0 && sum >= least) continue;
                        least = sum;
                        best = {x, y, dx, dy};
                    }
            all.push_back(best);
        }
    return all;
}

TEST_CASE("rerank: where pixels move, by the definition") {
    for (const ImageShape shape : test::rerank_shapes()) {
        const std::vector<std::uint8_t> images = test::rerank_images(16, shape, 11);
        for (const Reranker kind : {Reranker::both, Reranker::distortion}) {
            const DescriptorLayout layout(shape, {.kind = kind});
            for (int i = 0; i < 16; ++i) {
                std::vector<std::uint8_t> descriptors[2];
                std::vector<test::RerankMaps> maps;
                for (const int one : {i, (i + 9) % 16}) {
                    const std::uint8_t* image = images.data() + one * shape.dim();
                    descriptors[maps.size()] =
                        cpu::describe({.kind = kind}, {image, 1, shape.dim()}, shape, 1).bytes;
                    maps.push_back(test::rerank_maps(image, shape));
                }
                REQUIRE(moves(layout, descriptors[0].data(), descriptors[1].data()) ==
                        moves_by_definition(maps[0], maps[1]));
            }
        }
    }
}

TEST_CASE("rerank: cells move by whole cells, and not to themselves") {
    const ImageShape shape{12, 12};
    const DescriptorLayout layout(shape, {.kind = Reranker::cells});
    std::vector<std::uint8_t> query(static_cast<std::size_t>(layout.bytes())), moved = query;
    const auto cell = [&](int row, int col) { return static_cast<std::size_t>((row * 6 + col) * 8); };
    query[cell(2, 3) + 1] = 40;
    moved[cell(3, 2) + 1] = 40;
    CHECK(moves(layout, query.data(), query.data()) == std::vector<Move>{{6, 4, 0, 0}});
    CHECK(moves(layout, query.data(), moved.data()) == std::vector<Move>{{6, 4, -2, 2}});
}

}  // namespace
}  // namespace knn
