#include "gpu/fused/sampling.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace knn::gpu {

TEST_CASE("the images above a bucket maximum are as many as a simulation finds") {
    std::mt19937_64 random(1);
    constexpr int n_buckets = 64, images = 64 * 40, rounds = 2000;
    for (const int rank : {1, 5, 20, 48}) {
        double sum = 0;
        for (int round = 0; round < rounds; ++round) {
            std::vector<int> order(images);  // order[i]: the bucket of the i-th best image
            for (int i = 0; i < images; ++i)
                order[static_cast<std::size_t>(i)] = i % n_buckets;
            std::shuffle(order.begin(), order.end(), random);
            std::vector<bool> seen(n_buckets);
            int found = 0, above = 0;
            while (found < rank) {
                const auto bucket = static_cast<std::size_t>(order[static_cast<std::size_t>(above++)]);
                if (!seen[bucket]) ++found;
                seen[bucket] = true;
            }
            sum += above;
        }
        CAPTURE(rank);
        CHECK(images_above(rank, n_buckets) == doctest::Approx(sum / rounds).epsilon(0.05));
    }
}

TEST_CASE("a sampling stays within the training set and leaves enough survivors") {
    for (const int tiles : {1, 2, 3, 20, 235, 4000})
        for (const int k : {1, 2, 5, 10, 32, 100, 128, 1000, 1024}) {
            CAPTURE(tiles);
            CAPTURE(k);
            const Sampling sampling = choose_sampling(tiles, k, 784);
            if (sampling.sample_tiles == 0) {
                CHECK(k > tiles);  // so large a share of the images that a threshold does not help
                continue;
            }
            CHECK(sampling.sample_tiles <= sampling.first_tiles);
            CHECK(sampling.first_tiles <= tiles);
            CHECK(sampling.sample_rank >= 1);
            CHECK(sampling.sample_rank <= 64);
            CHECK(sampling.first_rank >= 1);
            CHECK(sampling.first_rank <= k);
            CHECK(sampling.survivors_first * tiles / sampling.first_tiles >= k);
        }
}

}  // namespace knn::gpu
