#include "gpu/engines/vote.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "tests/gpu/device_arrays.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/oracle.h"

namespace knn {

GPU_TEST_CASE("gpu: votes equal the definition's bit for bit") {
    std::mt19937 random(11);
    const std::vector<std::pair<Metric, unsigned>> cases = {
        {Metric::l2, 1},          {Metric::l2, 3},          {Metric::l2, 1000},
        {Metric::l2, 50'979'600}, {Metric::l1, 3},          {Metric::l1, 199'920},
        {Metric::l1, 16'843'005}, {Metric::cosine, 3},      {Metric::cosine, 1'000'000'007},
        {Metric::pearson, 3},     {Metric::pearson, 99'991}};
    for (const int k : {1, 2, 3, 5, 31, 32, 33, 64, 100, 1024})
        for (const int classes : {1, 2, 10, 256})
            for (const auto& [metric, distances] : cases) {
                constexpr std::int64_t n_query = 65, n_train = 5'000;
                std::vector<std::uint8_t> labels(n_train);
                for (std::uint8_t& label : labels)
                    label = static_cast<std::uint8_t>(random() % classes);
                std::vector<Neighbor> neighbors(n_query * k);
                for (Neighbor& n : neighbors) {
                    const auto integer = static_cast<std::uint32_t>(random() % distances);
                    const float share = static_cast<float>(integer) / static_cast<float>(distances);
                    n = {is_integral(metric) ? integer : std::bit_cast<std::uint32_t>(share),
                         static_cast<std::uint32_t>(random() % n_train)};
                }
                for (std::int64_t q = 0; q < n_query; ++q)
                    std::sort(neighbors.begin() + q * k, neighbors.begin() + (q + 1) * k);
                const auto d_labels = test::to_device(labels, 1, n_train);
                const auto d_neighbors = test::to_device(neighbors, 1, n_query * k);
                for (const Weights weights : {Weights::uniform, Weights::distance})
                    for (const Tie tie : {Tie::smallest, Tie::nearest}) {
                        CAPTURE(k);
                        CAPTURE(classes);
                        CAPTURE(static_cast<int>(metric));
                        CAPTURE(distances);
                        gpu::DeviceBuffer<Vote> d_votes(n_query);
                        gpu::enqueue_vote({d_neighbors.rows().d_data, n_query, k}, d_labels.rows().d_data,
                                          weights, tie, d_votes.d_data(), nullptr, metric);
                        std::vector<Vote> expected;
                        for (std::int64_t q = 0; q < n_query; ++q)
                            expected.push_back(test::vote(std::span(neighbors).subspan(q * k, k), labels,
                                                          weights, tie, {metric, 2}));
                        CHECK(test::to_host(d_votes) == expected);
                    }
            }
}

}  // namespace knn
