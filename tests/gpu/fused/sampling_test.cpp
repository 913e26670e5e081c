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

TEST_CASE(
    "a sampling stays within the training set, and what reaches its thresholds is enough and can be sorted") {
    constexpr int pass_tiles = 500;
    for (const bool known : {false, true})
        for (const int tiles : {1, 2, 3, 20, known ? 335 : 235, 4000})
            for (const int k : {1, 2, 5, 10, 32, 100, 128, 1000, 1024}) {
                CAPTURE(known);
                CAPTURE(tiles);
                CAPTURE(k);
                const Sampling plain = choose_sampling(tiles, k, 784, pass_tiles);
                const Sampling sampling = known ? sampling_of_known(tiles, k, pass_tiles) : plain;
                if (sampling.sample_tiles == 0) {
                    CHECK(plain.sample_tiles == 0);
                    if (!known)
                        CHECK(k > tiles);  // so large a share of the images that a threshold does not help
                    continue;
                }
                REQUIRE(!sampling.passes.empty());
                int seen = 0;
                for (const SearchPass& pass : sampling.passes) {
                    CHECK(pass.first_tile == seen);
                    CHECK(pass.n_tiles <= pass_tiles);
                    seen += pass.n_tiles;
                    if (known) {  // any lower rank is a guess about images of which the k best are unknown
                        CHECK(pass.rank == k);
                    } else {
                        CHECK(pass.n_tiles >= 1);
                        CHECK(pass.rank >= 1);
                        CHECK(pass.rank <= k);
                        CHECK(pass.survivors > 0);
                    }
                }
                CHECK(seen == tiles);
                const SearchPass& first = sampling.passes.front();
                if (known) {
                    CHECK(sampling.sample_tiles <= std::max(std::min(tiles, pass_tiles) / 20, 1));
                    // Two standard deviations: thresholds of known neighbors leave fewer, and what cannot be sorted is
                    // scanned. The limits are those of the fold.
                    const double most = first.survivors * (1 + 2 * sampling.spread);
                    if (tiles >= 335) CHECK(most < (k <= 32 ? 512 : k <= 128 ? 1024 : 4096));
                } else {
                    CHECK(sampling.sample_tiles <= first.n_tiles);
                    CHECK(first.survivors * tiles / first.n_tiles >= k);
                    CHECK(sampling.sample_rank >= 1);
                    CHECK(sampling.sample_rank <= 64);
                    if (tiles <= pass_tiles) CHECK(sampling.passes.size() <= 2);
                    CHECK(sampling.passes.back().rank == k);
                }
            }
}

}  // namespace knn::gpu
