#include "gpu/distance/distance.h"

#include <doctest/doctest.h>

#include "gpu/runtime/buffers.h"
#include "tests/gpu/device_arrays.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/oracle.h"

namespace knn {

namespace {

constexpr Metric all_metrics[] = {Metric::l2, Metric::l1, Metric::lp, Metric::cosine, Metric::pearson};

gpu::DeviceBuffer<char> poisoned(std::size_t bytes) {
    gpu::DeviceBuffer<char> buffer(bytes);
    if (bytes > 0) gpu::fill(buffer, 0xa5, "poisoning");
    return buffer;
}

/// Poisons rows and gaps on the device, so that unwritten values are detected. Skips refused problems.
void check_kernel(const gpu::DistanceKernel& kernel, const Problem& problem, const test::Rows& train,
                  const test::Rows& query, const std::vector<std::uint32_t>& expected) {
    INFO(std::string(kernel.name), ": ", problem);
    if (kernel.supports(problem)) return;
    const std::int64_t n_train = problem.n_train, n_query = problem.n_query, dim = problem.dim;
    const std::int64_t padded = (dim + 3) / 4 * 4;
    const auto train_bytes = test::to_device(train.pixels, n_train, dim),
               query_bytes = test::to_device(query.pixels, n_query, dim);
    const auto train_floats = test::to_device(std::vector<float>(n_train * padded, -1e9f), n_train, padded);
    const auto query_floats = test::to_device(std::vector<float>(n_query * padded, 1e9f), n_query, padded);
    gpu::FloatRows train_view = train_floats.rows(), query_view = query_floats.rows();
    train_view.cols = query_view.cols = dim;
    gpu::enqueue_expand(train_bytes.rows(), train_view, nullptr);
    gpu::enqueue_expand(query_bytes.rows(), query_view, nullptr);
    const auto out =
        test::to_device(std::vector<std::uint32_t>(n_query * n_train, 0xdeadbeef), n_query, n_train);
    const gpu::DeviceBuffer<char> workspace = poisoned(kernel.workspace_bytes(problem)),
                                  prepared = poisoned(kernel.prepared_bytes(problem));
    const bool floats = kernel.takes == gpu::Pixels::floats;
    const auto images = [&](const gpu::FloatRows& float_rows, const gpu::ByteRows& byte_rows) {
        return floats ? gpu::Images{float_rows, {}} : gpu::Images{{}, byte_rows};
    };
    gpu::DistanceInput in{images(train_view, train_bytes.rows()), images(query_view, query_bytes.rows())};
    if (prepared.size() > 0) {
        kernel.prepare(problem, in.train, prepared.d_data(), nullptr);
        in.train = {};
        in.d_prepared = prepared.d_data();
    }
    kernel.enqueue(problem, in, out.rows(), workspace.d_data(), nullptr);
    const std::vector<std::uint32_t> found = test::to_host(out.rows());
    CHECK(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
}

/// Every kernel, every metric that it supports, p = 0.5 and 3 for lp.
void check_all(const test::Rows& train, const test::Rows& query) {
    for (const Metric metric : all_metrics)
        for (const double p : {0.5, 3.0}) {
            if (p == 3.0 && metric != Metric::lp) continue;
            const Problem problem{train.n, query.n, train.dim, 1, {metric, p}};
            const std::vector<std::uint32_t> expected = test::scores(train, query, problem.measure);
            for (const gpu::DistanceKernel* kernel : gpu::distance_table())
                check_kernel(*kernel, problem, train, query, expected);
        }
}

void check_random(std::int64_t n_train, std::int64_t n_query, std::int64_t dim, int levels) {
    check_all(test::random_rows(n_train, dim, 1, levels), test::random_rows(n_query, dim, 2, levels));
}

}  // namespace

GPU_TEST_CASE("gpu: scores of every kernel and metric are those of the definition") {
    struct Size {
        std::int64_t n_train, n_query, dim;
    };
    for (const Size& size : {Size{1, 1, 1},
                             {2, 3, 3},
                             {33, 17, 4},
                             {127, 63, 5},
                             {128, 64, 32},
                             {129, 65, 31},
                             {300, 2, 33},
                             {5, 200, 784},
                             {260, 70, 127},
                             {70, 70, 1023},
                             {70, 70, 1024},
                             {70, 70, 1025},
                             {40, 9, 1033},
                             {20, 9, 2049},
                             {20, 9, 4096},
                             {131'072, 2, 3},  // as many as a texture holds
                             {131'073, 2, 3}})
        for (const int levels : {2, 256})
            check_random(size.n_train, size.n_query, size.dim, levels);
}

GPU_TEST_CASE("gpu: small images, every distance kernel and metric") {
    check_random(130, 9, 37, 256);
    check_random(5, 3, 1100, 256);
}

TEST_CASE("distance kernels say what they do not compute or hold, and classic has one for every metric") {
    Problem problem{1000, 10, 784, 5};
    for (const Metric metric : all_metrics) {
        problem.measure.metric = metric;
        int with_metric = 0;
        for (const gpu::DistanceKernel* kernel : gpu::distance_table()) {
            const bool has = (kernel->metrics & gpu::metric_set(metric)) != 0;
            with_metric += has;
            const UnsupportedReason refusal = kernel->supports(problem);
            if (has) continue;
            REQUIRE(refusal);
            CHECK(refusal->find(std::string(kernel->name) + " computes ") != std::string::npos);
        }
        CHECK(with_metric > 0);
    }
    for (const gpu::DistanceKernel* kernel : gpu::distance_table()) {
        CAPTURE(kernel->name);
        problem.measure.metric = Metric::l2;
        problem.k = 1001;
        CHECK(kernel->supports(problem));
        problem.k = 5;
    }
    problem.n_train = 200'000;
    for (const gpu::DistanceKernel* kernel : gpu::distance_table()) {
        if (kernel->name == std::string("texture"))
            CHECK(kernel->supports(problem).value().find("131072") != std::string::npos);
        if (kernel->name == std::string("auto-texture")) CHECK(!kernel->supports(problem));
    }
}

}  // namespace knn
