#include "gpu/distance/distance.h"

#include <doctest/doctest.h>

#include <random>

#include "gpu/expand.h"
#include "tests/gpu/device_arrays.h"
#include "tests/gpu/have_gpu.h"

namespace knn {

namespace {

/// All squared distances in 64-bit integers.
std::vector<std::int64_t> distances(const std::vector<std::uint8_t>& train,
                                    const std::vector<std::uint8_t>& query, std::int64_t n_train,
                                    std::int64_t n_query, std::int64_t dim) {
    std::vector<std::int64_t> all;
    for (std::int64_t q = 0; q < n_query; ++q)
        for (std::int64_t t = 0; t < n_train; ++t) {
            std::int64_t sum = 0;
            for (std::int64_t i = 0; i < dim; ++i) {
                const std::int64_t d = std::int64_t{query[q * dim + i]} - train[t * dim + i];
                sum += d * d;
            }
            all.push_back(sum);
        }
    return all;
}

/// Poisoned rows and gaps on the device, so that nothing unwritten looks right.
void check_kernel(const gpu::DistanceKernel& kernel, std::int64_t n_train, std::int64_t n_query,
                  std::int64_t dim, const std::vector<std::uint8_t>& train,
                  const std::vector<std::uint8_t>& query) {
    CAPTURE(kernel.name);
    CAPTURE(n_train);
    CAPTURE(n_query);
    CAPTURE(dim);
    const Problem problem{n_train, n_query, dim, 1, Metric::l2};
    if (kernel.supports(problem)) return;
    const std::int64_t padded = (dim + 3) / 4 * 4;
    const auto train_bytes = test::to_device(train, n_train, dim),
               query_bytes = test::to_device(query, n_query, dim);
    const auto train_floats = test::to_device(std::vector<float>(n_train * padded, -1e9f), n_train, padded);
    const auto query_floats = test::to_device(std::vector<float>(n_query * padded, 1e9f), n_query, padded);
    gpu::FloatRows train_view = train_floats.rows(), query_view = query_floats.rows();
    train_view.cols = query_view.cols = dim;
    gpu::enqueue_expand(train_bytes.rows(), train_view, nullptr);
    gpu::enqueue_expand(query_bytes.rows(), query_view, nullptr);
    const auto out =
        test::to_device(std::vector<std::uint32_t>(n_query * n_train, 0xdeadbeef), n_query, n_train);
    gpu::DeviceBuffer<char> workspace(kernel.workspace_bytes(problem));
    kernel.enqueue(problem, train_view, query_view, out.rows(), workspace.d_data(), nullptr);
    const std::vector<std::uint32_t> found = test::to_host(out.rows());
    const std::vector<std::int64_t> expected = distances(train, query, n_train, n_query, dim);
    CHECK(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
}

std::vector<std::uint8_t> random_bytes(std::int64_t n, unsigned seed, int levels) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(n);
    for (std::uint8_t& byte : bytes)
        byte = static_cast<std::uint8_t>(random() % levels * (255 / (levels - 1)));
    return bytes;
}

}  // namespace

TEST_CASE("gpu: distances of every kernel are the integers of the definition") {
    if (!test::have_gpu()) return;
    struct Size {
        std::int64_t n_train, n_query, dim;
    };
    for (const gpu::DistanceKernel* kernel : gpu::distance_table())
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
                                 {20, 9, 4096}})
            for (const int levels : {2, 256})
                check_kernel(*kernel, size.n_train, size.n_query, size.dim,
                             random_bytes(size.n_train * size.dim, 1, levels),
                             random_bytes(size.n_query * size.dim, 2, levels));
}

TEST_CASE("gpu: the largest distances of every dim are exact") {
    if (!test::have_gpu()) return;
    for (const gpu::DistanceKernel* kernel : gpu::distance_table())
        for (const std::int64_t dim : {784, 1024, 1028, 1032, 2048, 66'051})
            check_kernel(*kernel, 3, 2, dim, std::vector<std::uint8_t>(3 * dim, 255),
                         std::vector<std::uint8_t>(2 * dim, 0));
}

}  // namespace knn
