#include "data/rerank/descriptor.h"

#include "cpu/rerank/rerank.h"
#include "data/rerank/distance.h"
#include "tests/support/rerank_images.h"
#include "tests/support/rerank_oracle.h"
#include "tests/support/test.h"

namespace knn {
namespace {

TEST_CASE("rerank: the levels of gradients are those of exact arithmetic, and fit 16-bit sums") {
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

/// The displacements of all points by the definition; none where the query has nothing.
std::vector<Move> moves_by_definition(const test::RerankMaps& query, const test::RerankMaps& candidate) {
    std::vector<Move> all;
    for (int y = 0; y < query.shape.rows; y += 2)
        for (int x = 0; x < query.shape.cols; x += 2) {
            if (query.x.at(y, x) == 0 && query.y.at(y, x) == 0) continue;
            const test::Displacement best = test::displacement(query, candidate, x, y);
            all.push_back({x, y, best.dx, best.dy});
        }
    return all;
}

TEST_CASE("rerank: where pixels move, by the definition") {
    for (const ImageShape shape : test::rerank_shapes()) {
        const std::vector<std::uint8_t> images = test::rerank_images(16, shape, 11);
        for (const RerankKind kind : {RerankKind::both, RerankKind::distortion}) {
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
    const DescriptorLayout layout(shape, {.kind = RerankKind::cells});
    std::vector<std::uint8_t> query(static_cast<std::size_t>(layout.bytes())), moved = query;
    const auto cell = [&](int row, int col) { return static_cast<std::size_t>((row * 6 + col) * 8); };
    query[cell(2, 3) + 1] = 40;
    moved[cell(3, 2) + 1] = 40;
    CHECK(moves(layout, query.data(), query.data()) == std::vector<Move>{{6, 4, 0, 0}});
    CHECK(moves(layout, query.data(), moved.data()) == std::vector<Move>{{6, 4, -2, 2}});
}

}  // namespace
}  // namespace knn
