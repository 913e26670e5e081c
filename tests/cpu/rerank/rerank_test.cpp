#include "cpu/rerank/rerank.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "cpu/kernels/kernels.h"
#include "cpu/search.h"
#include "data/rerank/density.h"
#include "data/rerank/distance.h"
#include "tests/support/rerank_images.h"
#include "tests/support/reranked.h"
#include "tests/support/surroundings.h"

namespace knn {
namespace {

Rows rows_of(const std::vector<std::uint8_t>& images, ImageShape shape) {
    return {images.data(), static_cast<std::int64_t>(images.size()) / shape.dim(), shape.dim()};
}

TEST_CASE("cpu::rerank: descriptors and order are the oracle's on every instruction set") {
    std::mt19937 random(3);
    constexpr int n_train = 40, n_query = 9;
    for (const ImageShape shape : test::rerank_shapes()) {
        const std::vector<std::uint8_t> train = test::rerank_images(n_train, shape, 11);
        const std::vector<std::uint8_t> queries = test::rerank_images(n_query, shape, 12);
        const auto train_maps = test::maps_of(train, shape), query_maps = test::maps_of(queries, shape);
        for (const Reranker kind : {Reranker::distortion, Reranker::cells, Reranker::both}) {
            const Rerank rerank{.kind = kind};
            INFO(name(kind), " on ", shape.rows, "x", shape.cols);
            const auto bytes = test::descriptor_bytes(train_maps, kind);
            const int count = std::vector{1, 7, 32, 33, 40}[random() % 5];
            const int k = 1 + static_cast<int>(random() % static_cast<unsigned>(count));
            std::vector<std::uint32_t> density;
            if (random() % 2 == 0)
                for (int i = 0; i < n_train; ++i)
                    density.push_back(16384 + static_cast<std::uint32_t>(random() % 49153));
            const Neighbors candidates = test::random_candidates(n_query, count, n_train, random);
            const auto want = test::reranked(candidates, density, k, [&](std::size_t q, std::uint32_t index) {
                                  return test::rerank_distance(query_maps[q], train_maps[index], kind);
                              }).nearest;
            for (const std::string& name : cpu::instruction_sets()) {
                const test::Isa isa(name);
                CAPTURE(name);
                for (const int threads : {1, 3}) {
                    const Descriptors a = cpu::describe(rerank, rows_of(train, shape), shape, threads);
                    REQUIRE(a.bytes == bytes);
                    const Descriptors b = cpu::describe(rerank, rows_of(queries, shape), shape, threads);
                    REQUIRE(cpu::rerank(candidates, b, a, density, k, threads).rows == want.rows);
                }
            }
        }
    }
}

TEST_CASE("cpu::rerank: the steepest gradients stay within 16-bit sums") {
    constexpr ImageShape shape{12, 13};
    // Stripes against the same stripes with the colors exchanged: opposite gradients everywhere.
    std::vector<std::uint8_t> images;
    for (int i = 0; i < 4; ++i)
        for (int y = 0; y < shape.rows; ++y)
            for (int x = 0; x < shape.cols; ++x)
                images.push_back((i < 2 ? x / 6 : y / 6) % 2 == i % 2 ? 255 : 0);
    const Rerank rerank{.kind = Reranker::both};
    const auto maps = test::maps_of(images, shape);
    std::mt19937 random(1);
    const Neighbors candidates = test::random_candidates(4, 4, 4, random);
    const auto want = test::reranked(candidates, {}, 4, [&](std::size_t q, std::uint32_t index) {
                          return test::rerank_distance(maps[q], maps[index], rerank.kind);
                      }).nearest;
    for (const std::string& name : cpu::instruction_sets()) {
        const test::Isa isa(name);
        const Descriptors some = cpu::describe(rerank, rows_of(images, shape), shape, 1);
        REQUIRE(cpu::rerank(candidates, some, some, {}, 4, 1).rows == want.rows);
        CHECK(rerank_distance(some.layout, some.row(0), some.row(1)) ==
              test::rerank_distance(maps[0], maps[1], rerank.kind));
    }
}

TEST_CASE("cpu::rerank: an image is at distance 0 from itself, and equal distances go by index") {
    constexpr ImageShape shape{28, 28};
    std::vector<std::uint8_t> images = test::rerank_images(8, shape, 5);
    const std::vector<std::uint8_t> copy = images;
    images.insert(images.end(), copy.begin(), copy.end());
    const Rerank rerank{.kind = Reranker::both};
    const Descriptors train = cpu::describe(rerank, rows_of(images, shape), shape);
    const Descriptors queries = cpu::describe(rerank, rows_of(copy, shape), shape);
    Neighbors candidates(8, 16);
    for (std::int64_t q = 0; q < 8; ++q)
        for (std::uint32_t i = 0; i < 16; ++i)
            candidates.row(q)[i] = {i, 15 - i};
    const Neighbors got = cpu::rerank(candidates, queries, train, {}, 16);
    for (std::uint32_t q = 4; q < 7; ++q) {  // noise and strokes, which nothing else equals
        CHECK(got.row(q)[0] == Neighbor{0, q});
        CHECK(got.row(q)[1] == Neighbor{0, q + 8});
        CHECK(got.row(q)[2].distance > 0);
    }
    CHECK(std::is_sorted(got.row(0).begin(), got.row(0).end()));
}

TEST_CASE("cpu::rerank: no queries, k out of range, a stop") {
    constexpr ImageShape shape{5, 5};
    const std::vector<std::uint8_t> images = test::rerank_images(12, shape, 5);
    const Rerank rerank{.kind = Reranker::both};
    const Descriptors train = cpu::describe(rerank, rows_of(images, shape), shape);
    CHECK(cpu::describe(rerank, {images.data(), 0, 25}, shape).bytes.empty());
    CHECK(cpu::rerank(Neighbors(0, 10), {train.layout, {}}, train, {}, 3).rows.empty());
    CHECK_THROWS_AS(cpu::rerank(Neighbors(1, 10), train, train, {}, 11), std::invalid_argument);
    CHECK_THROWS_AS(cpu::rerank(Neighbors(1, 10), train, train, {}, 0), std::invalid_argument);
    std::atomic<bool> stop{true};
    ProgressToken token;
    token.stop = &stop;
    CHECK_THROWS_AS(cpu::rerank(Neighbors(1, 10), train, train, {}, 1, 1, token), Interrupted);
    CHECK_THROWS_AS(cpu::describe(rerank, rows_of(images, shape), shape, 1, &stop), Interrupted);
}

}  // namespace
}  // namespace knn
