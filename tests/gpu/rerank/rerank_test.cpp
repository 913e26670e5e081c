#include "gpu/rerank/rerank.h"

#include <doctest/doctest.h>

#include <random>

#include "data/rerank/distance.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/stream.h"
#include "tests/gpu/device_arrays.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/rerank_images.h"
#include "tests/support/reranked.h"

namespace knn {

namespace {

using Images = std::vector<std::uint8_t>;

/// The bytes of `describe`, which this reads from wherever the form has them.
Images descriptor_of(const gpu::DescriptorForm& form, const gpu::DescriptorView& view, std::int64_t image) {
    Images gradients(form.gradients.bytes), cells(form.cells.bytes), bytes;
    const auto download = [&](Images& to, const std::uint8_t* d_from) {
        if (to.empty()) return;
        gpu::check(cudaMemcpy(to.data(), d_from + image * static_cast<std::int64_t>(to.size()), to.size(),
                              cudaMemcpyDeviceToHost),
                   "downloading a descriptor");
    };
    download(gradients, view.d_gradients);
    download(cells, view.d_cells);
    constexpr int step = gradient_step;
    if (!gradients.empty())
        for (int phase = 0; phase < step * step; ++phase)
            for (int y = phase / step; y < form.gradients.image.rows; y += step)
                for (int x = phase % step; x < form.gradients.image.cols; x += step)
                    for (int i = 0; i < 2; ++i)
                        bytes.push_back(gradients[2 * form.gradients.at(x, y) + i]);
    if (!cells.empty())
        for (int row = 0; row < form.cells.rows; ++row)
            for (int col = 0; col < form.cells.cols; ++col)
                for (int bin = 0; bin < cell_bins; ++bin)
                    bytes.push_back(cells[form.cells.at(col, row) * cell_bins + bin]);
    return bytes;
}

struct OnDevice {
    gpu::Stream stream;
    gpu::ImageBuffer train, queries;

    gpu::ByteRows upload(gpu::ImageBuffer& to, const Images& images, ImageShape shape) {
        const auto n = static_cast<std::int64_t>(images.size()) / shape.dim();
        to.reserve(n, shape.dim());
        gpu::enqueue_upload({images.data(), n, shape.dim()}, to.rows(n, shape.dim()), stream);
        stream.synchronize();
        return to.rows(n, shape.dim());
    }
    test::Reranked rerank(gpu::DeviceReranker& reranker, const Neighbors& candidates, int k) {
        const auto in = gpu::copied_to_device(std::span(candidates.rows), "uploading candidates");
        gpu::DeviceBuffer<Neighbor> out(static_cast<std::size_t>(candidates.n_query) *
                                        static_cast<std::size_t>(k));
        gpu::fill(out, 0xa5, "poisoning");
        reranker.enqueue({in.d_data(), candidates.n_query, candidates.k},
                         {out.d_data(), candidates.n_query, k}, stream);
        stream.synchronize();
        test::Reranked found{std::vector<std::uint32_t>(candidates.rows.size()),
                             Neighbors(candidates.n_query, k)};
        gpu::check(cudaMemcpy(found.scores.data(), reranker.d_scores(),
                              found.scores.size() * sizeof(std::uint32_t), cudaMemcpyDeviceToHost),
                   "downloading scores");
        const auto rows = test::to_host(out);
        found.nearest.rows.assign(rows.begin(), rows.end());
        return found;
    }
};

/// Describes, re-ranks and compares with the oracle.
void check_reranker(const test::RerankProblem& problem, bool plain = false) {
    INFO(problem.text(), plain ? ", plain" : "");
    const ImageShape shape = problem.shape;
    const RerankKind kind = problem.rerank.kind;
    OnDevice device;
    gpu::DeviceReranker reranker(problem.rerank, shape, problem.density, plain);
    reranker.describe_training(device.upload(device.train, problem.train, shape), device.stream);
    reranker.reserve(problem.candidates.n_query, problem.candidates.k);
    reranker.describe_queries(device.upload(device.queries, problem.queries, shape), device.stream);
    const test::Reranked found = device.rerank(reranker, problem.candidates, problem.k);
    for (std::size_t i = 0; i < problem.train_maps.size(); ++i)
        REQUIRE(descriptor_of(reranker.form(), reranker.training(), i) ==
                test::descriptor_bytes(problem.train_maps[i], kind));
    for (std::size_t i = 0; i < problem.query_maps.size(); ++i)
        REQUIRE(descriptor_of(reranker.form(), reranker.queries(), i) ==
                test::descriptor_bytes(problem.query_maps[i], kind));
    REQUIRE(found.scores == problem.expected.scores);
    REQUIRE(found.nearest.rows == problem.expected.nearest.rows);
}

constexpr RerankKind kinds[] = {RerankKind::distortion, RerankKind::cells, RerankKind::both};
constexpr ImageShape digits{28, 28};

}  // namespace

GPU_TEST_CASE(
    "gpu: re-ranking is the oracle's, for numbers of candidates of every kind and images of every shape") {
    struct Size {
        ImageShape shape;
        int n_train, n_query, candidates;
        bool plain = false;  ///< loops for any shape
    };
    std::vector<Size> sizes;
    for (const int count : {1, 2, 3, 4, 5, 15, 16, 17, 33, 67})
        sizes.push_back({digits, 67, 5, count});
    for (const ImageShape shape : test::rerank_shapes())
        sizes.push_back({shape, 24, 4, 11});
    for (const ImageShape shape : {ImageShape{1, 784}, ImageShape{784, 1}, ImageShape{257, 257}})
        sizes.push_back({shape, 5, 2, 2});
    sizes.push_back({digits, 16, 3, 9, true});
    std::mt19937 random(3);
    for (const Size& size : sizes) {
        const Images train = test::rerank_images(size.n_train, size.shape, 11),
                     queries = test::rerank_images(size.n_query, size.shape, 12);
        for (const RerankKind kind : kinds) {
            const int k = 1 + static_cast<int>(random() % static_cast<unsigned>(size.candidates));
            check_reranker({kind, size.shape, train, queries, size.candidates, k, random() % 2 == 0, random},
                           size.plain);
        }
    }
}

// 28 x 28 pixels: sums in halves of words are largest for the steepest opposite gradients.
GPU_TEST_CASE("gpu: re-ranking of stripes in opposite colors stays within 16 bits") {
    std::mt19937 random(6);
    Images images;
    for (int width = 1; width <= 14; ++width)
        for (int i = 0; i < 6; ++i)
            for (int y = 0; y < digits.rows; ++y)
                for (int x = 0; x < digits.cols; ++x) {
                    const int along = i < 2 ? x : i < 4 ? y : (x + y) / 2;
                    images.push_back(along / width % 2 == i % 2 ? 255 : 0);
                }
    check_reranker({RerankKind::both, digits, images, images, 84, 84, false, random});
}

GPU_TEST_CASE("gpu: many candidates and queries, of which many are equal") {
    std::mt19937 random(7);
    const Images few = test::rerank_images(40, digits, 19);
    Images train;
    for (int i = 0; i < 26; ++i)
        train.insert(train.end(), few.begin(), few.end());
    const std::vector<test::RerankMaps> maps = test::maps_of(few, digits);
    const RerankSpec rerank{.kind = RerankKind::both};
    std::vector<std::int64_t> distances;
    for (int i = 0; i < 40 * 40; ++i)
        distances.push_back(test::rerank_distance(maps[i / 40], maps[i % 40], rerank.kind));
    OnDevice device;
    gpu::DeviceReranker reranker(rerank, digits);
    reranker.describe_training(device.upload(device.train, train, digits), device.stream);
    reranker.reserve(1040, 1024);
    for (const std::int64_t n_query : {1, 40, 1040}) {  // batches in the same memory
        const Images queries(train.begin(), train.begin() + n_query * digits.dim());
        reranker.describe_queries(device.upload(device.queries, queries, digits), device.stream);
        for (const int count : {1, 100, 1023, 1024}) {
            const Neighbors candidates = test::random_candidates(n_query, count, 1040, random);
            for (const int k : {1, count}) {
                const test::Reranked want = test::reranked(
                    candidates, {}, k,
                    [&](std::size_t q, std::uint32_t index) { return distances[q % 40 * 40 + index % 40]; });
                const test::Reranked found = device.rerank(reranker, candidates, k);
                CHECK(found.scores == want.scores);
                CHECK(found.nearest.rows == want.nearest.rows);
            }
        }
    }
}

GPU_TEST_CASE("gpu: re-ranking refuses what it has no room for") {
    const Images images = test::rerank_images(3, digits, 21);
    OnDevice device;
    gpu::DeviceReranker reranker({.kind = RerankKind::both}, digits);
    const gpu::ByteRows rows = device.upload(device.train, images, digits);
    reranker.describe_training(rows, device.stream);
    reranker.reserve(2, 10);
    CHECK_THROWS_AS(reranker.describe_queries(rows, device.stream), DeviceError);
    gpu::ByteRows two = rows;
    two.n = 2;
    reranker.describe_queries(two, device.stream);
    gpu::DeviceBuffer<Neighbor> some(100);
    const auto enqueue = [&](std::int64_t n, int candidates, int k) {
        reranker.enqueue({some.d_data(), n, candidates}, {some.d_data(), n, k}, device.stream);
    };
    CHECK_THROWS_AS(enqueue(3, 5, 5), DeviceError);
    CHECK_THROWS_AS(enqueue(2, 11, 5), DeviceError);
    const std::vector<std::uint32_t> density(2);
    gpu::DeviceReranker divided({.kind = RerankKind::both}, digits, density);
    CHECK_THROWS_AS(divided.describe_training(rows, device.stream), DeviceError);
    CHECK_THROWS_AS(gpu::DeviceReranker({.kind = RerankKind::none}, digits), DeviceError);
}

}  // namespace knn
