#include "gpu/vote.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "cpu/vote.h"
#include "tests/gpu/device_arrays.h"
#include "tests/gpu/have_gpu.h"

namespace knn {

TEST_CASE("gpu: votes equal the CPU's bit for bit") {
    if (!test::have_gpu()) return;
    std::mt19937 random(11);
    for (const int k : {1, 2, 3, 5, 31, 32, 33, 64, 100, 1024})
        for (const int classes : {1, 2, 10, 256})
            for (const unsigned distances : {1u, 3u, 1000u, 50'979'600u}) {
                constexpr std::int64_t n_query = 65, n_train = 5'000;
                std::vector<std::uint8_t> labels(n_train);
                for (std::uint8_t& label : labels)
                    label = static_cast<std::uint8_t>(random() % classes);
                std::vector<Neighbor> neighbors(n_query * k);
                for (Neighbor& n : neighbors)
                    n = {static_cast<std::uint32_t>(random() % distances),
                         static_cast<std::uint32_t>(random() % n_train)};
                for (std::int64_t q = 0; q < n_query; ++q)
                    std::sort(neighbors.begin() + q * k, neighbors.begin() + (q + 1) * k);
                const auto d_labels = test::to_device(labels, 1, n_train);
                const auto d_neighbors = test::to_device(neighbors, 1, n_query * k);
                for (const Weights weights : {Weights::uniform, Weights::distance})
                    for (const Tie tie : {Tie::smallest, Tie::nearest}) {
                        CAPTURE(k);
                        CAPTURE(classes);
                        CAPTURE(distances);
                        gpu::DeviceBuffer<Vote> d_votes(n_query);
                        gpu::enqueue_vote({d_neighbors.rows().d_data, n_query, k}, d_labels.rows().d_data,
                                          weights, tie, d_votes.d_data(), nullptr);
                        std::vector<Vote> expected;
                        for (std::int64_t q = 0; q < n_query; ++q)
                            expected.push_back(
                                cpu::vote({neighbors.data() + q * k, static_cast<std::size_t>(k)}, labels,
                                          weights, tie));
                        CHECK(test::to_host(d_votes) == expected);
                    }
            }
}

}  // namespace knn
