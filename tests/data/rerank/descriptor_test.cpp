#include "data/rerank/descriptor.h"

#include <doctest/doctest.h>

#include <cmath>

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

TEST_CASE("rerank: a gradient's shares are its axis and its diagonal") {
    CHECK(direction_share(0, 100, 0) == 100);
    CHECK(direction_share(1, 100, 0) == 0);
    CHECK(direction_share(7, 100, 0) == 0);
    CHECK(direction_share(1, 128, 128) == 181);
    CHECK(direction_share(0, 128, 128) == 0);
    CHECK(direction_share(2, 28, 128) == 100);
    CHECK(direction_share(1, 28, 128) == 181 * 28 / 128);
    CHECK(direction_share(4, -100, 0) == 100);
    CHECK(direction_share(6, 0, -100) == 100);
    CHECK(direction_share(5, -128, -128) == 181);
    for (int direction = 0; direction < 8; ++direction)
        CHECK(direction_share(direction, 0, 0) == 0);
}

TEST_CASE("rerank: a descriptor has the bytes of its definition, for images of any shape") {
    for (const ImageShape shape : test::rerank_shapes()) {
        const std::vector<std::uint8_t> images = test::rerank_images(16, shape, 7);
        for (const Reranker kind : {Reranker::distortion, Reranker::cells, Reranker::both})
            for (const int step : {1, 2})
                for (int i = 0; i < 16; ++i) {
                    const Rerank rerank{.kind = kind, .step = step};
                    const DescriptorLayout layout(shape, rerank);
                    const std::uint8_t* image = images.data() + i * shape.dim();
                    std::vector<std::uint8_t> got(static_cast<std::size_t>(layout.bytes()));
                    describe(layout, image, got.data());
                    REQUIRE(got == test::descriptor_bytes(test::rerank_maps(image, shape, step), rerank));
                }
    }
}

TEST_CASE("rerank: parameters out of range are refused by name") {
    CHECK(!refuse_rerank({}));
    CHECK(!refuse_rerank({.candidates = 10, .step = 1, .window = 4, .context = 2}));
    CHECK(refuse_rerank({.candidates = 9})->find("candidates") == 0);
    CHECK(refuse_rerank({.candidates = 1025})->find("candidates") == 0);
    CHECK(refuse_rerank({.step = 3})->find("step") == 0);
    CHECK(refuse_rerank({.step = 0})->find("step") == 0);
    CHECK(refuse_rerank({.window = 5})->find("window") == 0);
    CHECK(refuse_rerank({.context = 3})->find("context") == 0);
    for (const RerankInfo& info : rerankers())
        CHECK(named<Reranker>(name(info.kind)) == info.kind);
}

}  // namespace
}  // namespace knn
