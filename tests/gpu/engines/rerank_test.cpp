/// Re-ranking on the device gives the bytes of re-ranking on the host.

#include <doctest/doctest.h>

#include <random>

#include "classifier/engines.h"
#include "classifier/index.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/points.h"
#include "tests/support/rerank_images.h"

namespace knn {

namespace {

/// With four labels at random.
struct Images : test::Labeled {
    Images(ImageShape of, int n, std::uint32_t seed)
        : Labeled(of, n, seed, [random = std::mt19937(seed + 1)](int) mutable { return random() % 4; }) {}
};

Results found(const char* name, Device device, const Images& train, const Method& method, const Rows& queries,
              Exclude exclude, std::int64_t batch) {
    const Engine& engine = *find_engine(name);
    Plan plan{.engine = engine.name, .device = std::move(device), .batch = batch, .threads = 2};
    const Training training = train.training();
    const UnsupportedReason refusal = engine.configure(method.problem(training, queries.count), plan);
    REQUIRE_MESSAGE(!refusal, name);
    Index classifier(training, method, {.engine = &engine, .plan = plan, .notice = ""});
    // Twice: memory of the first search is used again.
    const Queries all = test::queries_of(queries, exclude, training.rows);
    if (batch > 0) classifier.search(all.slice(0, 1));
    return classifier.search(all);
}

void check_engines(const Images& train, const Method& method, const Rows& queries, Exclude exclude = {},
                   std::int64_t batch = 0) {
    const Results expected = found("cpu", cpu_device(), train, method, queries, exclude, 0);
    for (const char* name : {"classic", "tensor"}) {
        CAPTURE(name);
        const Results here = found(name, gpu::devices().front(), train, method, queries, exclude, batch);
        CHECK(here.neighbors.rows == expected.neighbors.rows);
        CHECK(here.votes == expected.votes);
        std::string stages;
        for (const Stage& stage : here.timeline.stages())
            stages.append(stage.name).append(" ");
        // Both on the device; spreads are applied on the host.
        CHECK(stages.find(method.rerank.has_descriptors() ? "describe rerank" : "download rerank") !=
              std::string::npos);
    }
}

}  // namespace

GPU_TEST_CASE("gpu: engines re-rank, and scale distances by spread, as the host does") {
    const Images train({28, 28}, 700, 3), test({28, 28}, 90, 4);
    for (const char* transform : {"raw", "gradients"})
        for (const char* reranker : {"distortion", "cells", "both", "spread", "spread:30:deviation:plus:0.5"})
            for (const bool density : {false, true})
                for (const VoteKind votes : {VoteKind::majority, VoteKind::class_mean}) {
                    CAPTURE(transform);
                    CAPTURE(reranker);
                    CAPTURE(density);
                    Method method{.transform = parse_transform("--transform", transform),
                                  .rerank = {.candidates = 40, .density = density},
                                  .vote = {.k = 4, .votes = votes}};
                    read_reranker("--rerank", reranker, method.rerank);
                    if (!method.rerank.has_descriptors() && (!density || votes != VoteKind::majority))
                        continue;
                    check_engines(train, method, test.rows());
                    check_engines(train, method, train.rows().slice(0, 130), Exclude{.first = 0}, 64);
                }
}

GPU_TEST_CASE(
    "gpu: engines re-rank in batches, more neighbors than candidates, and without the image itself") {
    const Images train({28, 28}, 300, 5);
    Method method{.rerank = {.kind = RerankKind::both, .candidates = 20}, .vote = {.k = 5}};
    for (const std::int64_t batch : {std::int64_t{1}, std::int64_t{64}, std::int64_t{0}})
        check_engines(train, method, train.rows().slice(0, 130), Exclude{.first = 0}, batch);
    method.vote.k = 50;
    check_engines(train, method, train.rows().slice(0, 30), Exclude{.first = 0});
    method.vote.k = 299;
    check_engines(train, method, train.rows().slice(0, 3), Exclude{.first = 0});
}

GPU_TEST_CASE("gpu: engines re-rank images of other shapes") {
    for (const ImageShape shape : test::rerank_shapes()) {
        CAPTURE(shape.rows);
        CAPTURE(shape.cols);
        const Images train(shape, 60, 6), test(shape, 17, 7);
        check_engines(train, {.rerank = {.kind = RerankKind::both, .candidates = 12}, .vote = {.k = 3}},
                      test.rows());
    }
}

}  // namespace knn
