/// Measures re-ranking of 10,000 queries with 96 candidates of 60,000 images, each stage alone, and checks the scores:
///
///     MNIST_KNN_DATA=... unit_tests --no-skip -tc='gpu: measured: re-ranking*'
///
/// and `accurate` as a whole, training set resident:
///
///     MNIST_KNN_DATA=... unit_tests --no-skip -tc='gpu: measured: accurate*'

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <span>

#include "classifier/engines.h"
#include "classifier/index.h"
#include "cpu/rerank/rerank.h"
#include "data/core/clock.h"
#include "data/rerank/distance.h"
#include "data/set/idx.h"
#include "gpu/rerank/kernels.h"
#include "gpu/rerank/rerank.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/stream.h"
#include "tests/gpu/device_arrays.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/rerank_images.h"

namespace knn {

namespace {

constexpr ImageShape digits{28, 28};
constexpr int n_train = 60'000, n_query = 10'000, n_candidates = 96, k = 8;
constexpr std::int64_t n_pairs = std::int64_t{n_query} * n_candidates;

std::vector<std::uint8_t> images_of(const char* file, int n) {
    if (test::mnist_folder().empty()) return test::rerank_images(n, digits, static_cast<std::uint32_t>(n));
    const IdxImages images = read_idx_images(std::filesystem::path(test::mnist_folder()) / file);
    REQUIRE(images.count == n);
    const std::span<const std::uint8_t> pixels = images.pixels.span();
    return {pixels.begin(), pixels.end()};
}

/// Median of 11 runs after 3 others; one run takes microseconds more than the kernels for the launch.
double median_ms(const gpu::Stream& stream, const std::function<void()>& run) {
    std::vector<double> all;
    for (int i = 0; i < 14; ++i) {
        gpu::Event begin, end;
        begin.record(stream);
        run();
        end.record(stream);
        end.synchronize();
        if (i >= 3) all.push_back(gpu::elapsed_ms(begin, end));
    }
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

void report(const char* what, double ms) {
    std::printf("%-44s %8.3f ms\n", what, ms);
    std::fflush(stdout);
}

struct Measured {
    gpu::Stream stream;
    gpu::ImageBuffer train, queries;
    gpu::DeviceBuffer<Neighbor> candidates{n_pairs}, out{std::size_t{n_query} * k};
    gpu::DeviceBuffer<std::uint32_t> scores{n_pairs};

    gpu::ByteRows upload(gpu::ImageBuffer& to, const std::vector<std::uint8_t>& images, std::int64_t n) {
        to.reserve(n, digits.dim());
        gpu::enqueue_upload({images.data(), n, digits.dim()}, to.rows(n, digits.dim()), stream);
        stream.synchronize();
        return to.rows(n, digits.dim());
    }
    gpu::PairTask task(const std::uint8_t* d_query, const std::uint8_t* d_train) const {
        return {d_query, d_train, {candidates.d_data(), n_query, n_candidates}, scores.d_data()};
    }
};

std::vector<Neighbor> random_pairs() {
    std::mt19937 random(1);
    std::vector<Neighbor> pairs;
    for (std::int64_t i = 0; i < n_pairs; ++i)
        pairs.push_back({0, static_cast<std::uint32_t>(random() % n_train)});
    return pairs;
}

}  // namespace

TEST_CASE("gpu: measured: re-ranking of 10,000 queries with 96 candidates" * doctest::skip()) {
    if (!test::have_gpu()) return;
    const std::vector<std::uint8_t> train = images_of("train-images-idx3-ubyte.gz", n_train);
    const std::vector<std::uint8_t> queries = images_of("t10k-images-idx3-ubyte.gz", n_query);
    const std::vector<Neighbor> pairs = random_pairs();
    const Rerank rerank{.kind = Reranker::both};
    Measured m;
    m.candidates = gpu::copied_to_device(std::span(pairs), "uploading");
    gpu::DeviceReranker special(rerank, digits), plain(rerank, digits, true);
    const gpu::ByteRows train_rows = m.upload(m.train, train, n_train);
    const gpu::ByteRows query_rows = m.upload(m.queries, queries, n_query);
    for (gpu::DeviceReranker* reranker : {&special, &plain}) {
        reranker->describe_training(train_rows, m.stream);
        reranker->reserve(n_query, n_candidates);
        reranker->describe_queries(query_rows, m.stream);
    }
    report("describe 60,000 training images",
           median_ms(m.stream, [&] { special.describe_training(train_rows, m.stream); }));
    report("describe 10,000 queries",
           median_ms(m.stream, [&] { special.describe_queries(query_rows, m.stream); }));

    const gpu::DescriptorView q = special.queries(), t = special.training();
    const gpu::DescriptorView plain_q = plain.queries(), plain_t = plain.training();
    std::vector<std::vector<std::uint32_t>> scores;
    const auto measure_scores = [&](const char* what, const std::function<void()>& run) {
        gpu::fill(m.scores, 0xa5, "poisoning");
        report(what, median_ms(m.stream, run));
        scores.push_back(test::to_host(m.scores));
    };
    measure_scores("distortion28, 960,000 pairs",
                   [&] { gpu::enqueue_distortion28(m.task(q.d_gradients, t.d_gradients), m.stream); });
    measure_scores("cells28", [&] { gpu::enqueue_cells28(m.task(q.d_cells, t.d_cells), m.stream); });
    measure_scores("plain distortion", [&] {
        gpu::enqueue_plain_distortion(m.task(plain_q.d_gradients, plain_t.d_gradients),
                                      plain.form().gradients, m.stream);
    });
    measure_scores("plain cells", [&] {
        gpu::enqueue_plain_cells(m.task(plain_q.d_cells, plain_t.d_cells), plain.form().cells, m.stream);
    });
    CHECK(scores[0] == scores[2]);
    CHECK(scores[1] == scores[3]);
    const gpu::NeighborRows in{m.candidates.d_data(), n_query, n_candidates}, out{m.out.d_data(), n_query, k};
    report("order",
           median_ms(m.stream, [&] { gpu::enqueue_order(in, m.scores.d_data(), nullptr, out, m.stream); }));
    report("all after the queries' descriptors",
           median_ms(m.stream, [&] { special.enqueue(in, out, m.stream); }));
    report("all with the queries' descriptors", median_ms(m.stream, [&] {
               special.describe_queries(query_rows, m.stream);
               special.enqueue(in, out, m.stream);
           }));

    // Some of them against the definition.
    const DescriptorLayout layout(digits, rerank);
    const std::vector<std::uint32_t> sums = [&] {
        std::vector<std::uint32_t> all(n_pairs);
        gpu::check(cudaMemcpy(all.data(), special.d_scores(), all.size() * 4, cudaMemcpyDeviceToHost),
                   "scores");
        return all;
    }();
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n_pairs; i += 997) {
        const std::uint8_t* query = queries.data() + i / n_candidates * digits.dim();
        const std::uint8_t* candidate = train.data() + pairs[i].index * digits.dim();
        const Descriptors a = cpu::describe(rerank, {query, 1, digits.dim()}, digits, 1);
        const Descriptors b = cpu::describe(rerank, {candidate, 1, digits.dim()}, digits, 1);
        wrong += sums[i] != rerank_distance(layout, a.row(0), b.row(0));
    }
    CHECK(wrong == 0);
}

TEST_CASE("gpu: measured: accurate, training set resident" * doctest::skip()) {
    if (!test::have_gpu()) return;
    const std::vector<std::uint8_t> train = images_of("train-images-idx3-ubyte.gz", n_train);
    const std::vector<std::uint8_t> queries = images_of("t10k-images-idx3-ubyte.gz", n_query);
    const std::vector<std::uint8_t> labels(n_train);  // of no consequence to the time of kernels
    const Training training{.rows = {train.data(), n_train, digits.dim()}, .labels = labels, .shape = digits};
    const auto accurate = std::find_if(methods().begin(), methods().end(), [](const NamedMethod& one) {
        return std::string_view(one.name) == "accurate";
    });
    REQUIRE(accurate != methods().end());
    const Engine& engine = *find_engine("tensor");
    Plan plan{.engine = engine.name, .device = gpu::devices().front()};
    REQUIRE(!engine.settle(accurate->method.problem(training, n_train), plan));
    Index classifier(training, accurate->method, {.engine = &engine, .plan = plan, .notice = ""});
    report("opening: kernels", classifier.opening().kernels_ms());
    report("opening: wall clock", classifier.open_ms());
    const auto measure = [&](const char* what, const Queries& queries) {
        std::vector<double> kernels, wall;
        for (int i = 0; i < 8; ++i) {
            const Results found = classifier.search(queries);
            if (i < 3) continue;
            kernels.push_back(found.timeline.kernels_ms());
            wall.push_back(found.search_ms);
        }
        std::sort(kernels.begin(), kernels.end());
        std::sort(wall.begin(), wall.end());
        std::printf("%s: ", what);
        report("kernels", kernels[kernels.size() / 2]);
        std::printf("%s: ", what);
        report("wall clock, votes on the host", wall[wall.size() / 2]);
        const Timeline once = classifier.search(queries).timeline;
        for (const Stage& stage : once.stages())
            report(stage.name.c_str(), stage.total_ms);
    };
    measure("10,000 queries", Rows{queries.data(), n_query, digits.dim()});
    measure("60,000 leave-one-out", Queries::all_of(training.rows));
}

}  // namespace knn
