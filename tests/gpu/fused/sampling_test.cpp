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
            constexpr int pass_tiles = 500;
            const Sampling sampling = choose_sampling(tiles, k, 784, pass_tiles);
            if (sampling.sample_tiles == 0) {
                CHECK(k > tiles);  // so large a share of the images that a threshold does not help
                continue;
            }
            REQUIRE(!sampling.passes.empty());
            const SearchPass& first = sampling.passes.front();
            CHECK(sampling.sample_tiles <= first.n_tiles);
            CHECK(first.survivors * tiles / first.n_tiles >= k);
            CHECK(sampling.sample_rank >= 1);
            CHECK(sampling.sample_rank <= 64);
            int seen = 0;
            for (const SearchPass& pass : sampling.passes) {
                CHECK(pass.first_tile == seen);
                CHECK(pass.n_tiles >= 1);
                CHECK(pass.n_tiles <= pass_tiles);
                CHECK(pass.rank >= 1);
                CHECK(pass.rank <= k);
                CHECK(pass.survivors > 0);
                seen += pass.n_tiles;
            }
            CHECK(seen == tiles);
            if (tiles <= pass_tiles) CHECK(sampling.passes.size() <= 2);
            CHECK(sampling.passes.back().rank == k);
        }
}

TEST_CASE(
    "with known neighbors the sample is small, and nearly all that reaches its thresholds can be sorted") {
    for (const int tiles : {1, 2, 3, 20, 335, 4000})
        for (const int k : {1, 2, 5, 10, 32, 100, 128, 1000, 1024}) {
            CAPTURE(tiles);
            CAPTURE(k);
            constexpr int pass_tiles = 500;
            const Sampling sampling = sampling_of_known(tiles, k, pass_tiles);
            if (sampling.sample_tiles == 0) {
                CHECK(choose_sampling(tiles, k, 784, pass_tiles).sample_tiles == 0);
                continue;
            }
            const int first = std::min(tiles, pass_tiles);
            CHECK(sampling.sample_tiles <= std::max(first / 20, 1));
            int seen = 0;
            for (const SearchPass& pass : sampling.passes) {
                CHECK(pass.first_tile == seen);
                CHECK(pass.n_tiles <= pass_tiles);
                CHECK(pass.rank ==
                      k);  // any lower one is a guess about images of which the k best are unknown
                seen += pass.n_tiles;
            }
            CHECK(seen == tiles);
            // Two standard deviations: thresholds of known neighbors leave fewer, and what cannot be sorted is scanned.
            const double most = sampling.passes.front().survivors * (1 + 2 * sampling.spread);
            if (tiles >= 335) CHECK(most < (k <= 32 ? 512 : k <= 128 ? 1024 : 4096));  // limits of the fold
        }
}

}  // namespace knn::gpu
