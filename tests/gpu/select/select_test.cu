#include "gpu/select/select.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/gpu/device_arrays.h"
#include "tests/gpu/have_gpu.h"

namespace knn {

namespace {

/// The k smallest (value, column) of every row, by std::partial_sort.
std::vector<Neighbor> smallest(const std::vector<std::uint32_t>& matrix, std::int64_t n_query,
                               std::int64_t n_train, int k) {
    std::vector<Neighbor> all;
    for (std::int64_t q = 0; q < n_query; ++q) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> row;
        for (std::int64_t t = 0; t < n_train; ++t)
            row.emplace_back(matrix[q * n_train + t], static_cast<std::uint32_t>(t));
        std::partial_sort(row.begin(), row.begin() + k, row.end());
        for (int i = 0; i < k; ++i)
            all.push_back({row[i].first, row[i].second});
    }
    return all;
}

void check_selector(const gpu::Selector& selector, std::int64_t n_query, std::int64_t n_train, int k,
                    const std::vector<std::uint32_t>& matrix) {
    const std::string name = selector.name;  // of a pointer, doctest would show the address
    CAPTURE(name);
    CAPTURE(n_train);
    CAPTURE(n_query);
    CAPTURE(k);
    const Problem problem{n_train, n_query, 784, k, Metric::l2};
    if (selector.supports(problem)) return;
    const auto in =
        test::to_device(matrix, n_query, n_train, 0);  // gaps of zeros would win if they were read
    gpu::DeviceBuffer<Neighbor> out(static_cast<std::size_t>(n_query * k));
    gpu::DeviceBuffer<char> workspace(selector.workspace_bytes(problem));
    gpu::check(cudaMemset(out.d_data(), 0xa5, out.size() * sizeof(Neighbor)), "poisoning");
    if (workspace.size() > 0) gpu::check(cudaMemset(workspace.d_data(), 0, workspace.size()), "poisoning");
    selector.enqueue(problem, in.rows(), {out.d_data(), n_query, k}, workspace.d_data(), nullptr);
    CHECK(test::to_host(out) == smallest(matrix, n_query, n_train, k));
}

enum class Order { random, few_values, equal, ascending, descending, extreme };

std::vector<std::uint32_t> values(Order order, std::int64_t n_query, std::int64_t n_train) {
    std::mt19937 random(static_cast<unsigned>(n_train));
    std::vector<std::uint32_t> matrix(n_query * n_train);
    for (std::int64_t i = 0; i < n_query * n_train; ++i) {
        const auto column = static_cast<std::uint32_t>(i % n_train);
        switch (order) {
            case Order::random:
                matrix[i] = random() % 50'979'600;
                break;
            case Order::few_values:
                matrix[i] = random() % 3;
                break;
            case Order::equal:
                matrix[i] = 12'345;
                break;
            case Order::ascending:
                matrix[i] = column;
                break;
            case Order::descending:
                matrix[i] = 4'000'000'000u - column;
                break;
            case Order::extreme:
                matrix[i] = random() % 2 == 0 ? 0xffffffffu : 0u;
                break;
        }
    }
    return matrix;
}

constexpr Order all_orders[] = {Order::random,    Order::few_values, Order::equal,
                                Order::ascending, Order::descending, Order::extreme};

}  // namespace

TEST_CASE("gpu: every selector finds the k smallest in order, for rows of every kind") {
    if (!test::have_gpu()) return;
    for (const gpu::Selector* selector : gpu::selector_table())
        for (const std::int64_t n_train :
             {1,    2,    31,   32,     33,     1000,   1023,   1024,   1025,   2048,   2049,
              4095, 8192, 8193, 16'384, 16'385, 32'769, 60'000, 65'536, 65'537, 131'073})
            for (const Order order : all_orders) {
                const std::vector<std::uint32_t> matrix = values(order, 3, n_train);
                for (const int k : {1, 5, 32, 33, 1024})
                    if (k <= n_train) check_selector(*selector, 3, n_train, k, matrix);
                if (n_train <= 1024) check_selector(*selector, 3, n_train, static_cast<int>(n_train), matrix);
            }
}

TEST_CASE("gpu: rows of a million and more") {
    if (!test::have_gpu()) return;
    for (const gpu::Selector* selector : gpu::selector_table())
        for (const std::int64_t n_train : {1 << 20, (1 << 20) + 1, 3'000'000})
            for (const Order order : {Order::random, Order::descending})
                check_selector(*selector, 2, n_train, 100, values(order, 2, n_train));
}

TEST_CASE("gpu: more rows than run at once") {
    if (!test::have_gpu()) return;
    for (const gpu::Selector* selector : gpu::selector_table())
        for (const std::int64_t n_train : {100, 9'000, 70'000})
            check_selector(*selector, 700, n_train, 7, values(Order::random, 700, n_train));
}

}  // namespace knn
