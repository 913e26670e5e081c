#include "cpu/rerank/rerank.h"

#include "cpu/kernels/kernels.h"
#include "data/rerank/distance.h"
#include "tests/support/rerank_images.h"
#include "tests/support/reranked.h"
#include "tests/support/surroundings.h"
#include "tests/support/test.h"

namespace knn {
namespace {

Rows rows_of(const std::vector<std::uint8_t>& images, ImageShape shape) {
    return {images.data(), static_cast<std::int64_t>(images.size()) / shape.dim(), shape.dim()};
}

TEST_CASE("cpu::rerank: descriptors and order are the oracle's on every instruction set") {
    std::mt19937 random(3);
    std::vector<test::RerankProblem> problems;
    for (const ImageShape shape : test::rerank_shapes())
        for (const RerankKind kind : {RerankKind::distortion, RerankKind::cells, RerankKind::both}) {
            const int count = std::vector{1, 7, 32, 33, 40}[random() % 5];
            const int k = 1 + static_cast<int>(random() % static_cast<unsigned>(count));
            problems.emplace_back(kind, shape, test::rerank_images(40, shape, 11),
                                  test::rerank_images(9, shape, 12), count, k, random() % 2 == 0, random);
        }
    // Stripes against the same stripes with the colors exchanged: the steepest opposite gradients everywhere, whose sums have
    // to stay within 16 bits.
    constexpr ImageShape striped{12, 13};
    std::vector<std::uint8_t> stripes;
    for (int i = 0; i < 4; ++i)
        for (int y = 0; y < striped.rows; ++y)
            for (int x = 0; x < striped.cols; ++x)
                stripes.push_back((i < 2 ? x / 6 : y / 6) % 2 == i % 2 ? 255 : 0);
    problems.emplace_back(RerankKind::both, striped, stripes, stripes, 4, 4, false, random);
    for (const test::RerankProblem& problem : problems)
        for (const std::string& name : cpu::instruction_sets())
            for (const int threads : {1, 3}) {
                const test::Isa isa(name);
                INFO(problem.text(), ", ", name, ", threads ", threads);
                const Descriptors train =
                    cpu::describe(problem.rerank, problem.train_rows(), problem.shape, threads);
                const Descriptors queries =
                    cpu::describe(problem.rerank, problem.query_rows(), problem.shape, threads);
                REQUIRE(train.bytes == test::descriptor_bytes(problem.train_maps, problem.rerank.kind));
                REQUIRE(cpu::rerank(problem.candidates, queries, train, problem.density, problem.k, threads)
                            .rows == problem.expected.nearest.rows);
                CHECK(
                    rerank_distance(train.layout, queries.row(0), train.row(1)) ==
                    test::rerank_distance(problem.query_maps[0], problem.train_maps[1], problem.rerank.kind));
            }
}

TEST_CASE("cpu::rerank: an image is at distance 0 from itself, and equal distances go by index") {
    constexpr ImageShape shape{28, 28};
    std::vector<std::uint8_t> images = test::rerank_images(8, shape, 5);
    const std::vector<std::uint8_t> copy = images;
    images.insert(images.end(), copy.begin(), copy.end());
    const RerankSpec rerank{.kind = RerankKind::both};
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
    const RerankSpec rerank{.kind = RerankKind::both};
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
