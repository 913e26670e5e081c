#include "gpu/fused/schedule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "gpu/fused/sampling.h"

namespace knn::gpu {

namespace {

/// Every tile once, every slot of a query tile used by only one block, every piece within the announced
/// bounds.
void check_schedule(const Schedule& schedule) {
    std::set<std::pair<int, int>> tiles, slots;
    std::map<int, int> used;  // slots of each query tile
    for (int block = 0; block < schedule.blocks; ++block) {
        Pieces pieces(schedule, block);
        for (Piece piece; pieces.next(piece);) {
            CHECK(piece.n_tiles >= 1);
            CHECK(piece.n_tiles <= schedule.max_piece());
            CHECK(piece.slot >= 0);
            CHECK(piece.slot < schedule.slots());
            CHECK(slots.insert({piece.query_tile, piece.slot}).second);
            ++used[piece.query_tile];
            for (int t = 0; t < piece.n_tiles; ++t)
                CHECK(tiles.insert({piece.query_tile, piece.first_tile + t}).second);
        }
    }
    for (const auto& [query_tile, count] : used)
        if (schedule.windows == 1) CHECK(schedule.used_slots(query_tile) == count);
    CHECK(static_cast<int>(tiles.size()) == schedule.query_tiles * schedule.train_tiles);
    CHECK(tiles.begin()->second == schedule.first_tile);
    CHECK(tiles.rbegin()->second == schedule.first_tile + schedule.train_tiles - 1);
}

}  // namespace

TEST_CASE("the blocks of a fused search divide all tiles among them, none twice") {
    for (const Schedule& schedule : {Schedule{1, 0, 1, 1, 1},
                                     {1, 0, 235, 2, 132},
                                     {79, 0, 9, 1, 132},
                                     {79, 9, 226, 2, 132},
                                     {7, 3, 11, 5, 13},
                                     {469, 29, 206, 2, 132},
                                     {2, 1, 5, 5, 10}}) {
        CAPTURE(schedule.query_tiles);
        CAPTURE(schedule.train_tiles);
        check_schedule(schedule);
    }
}

TEST_CASE("every position in tile order has one image") {
    for (const std::int64_t n_tiles : {1, 2, 3, 7, 12, 235, 4000}) {
        CAPTURE(n_tiles);
        const std::int64_t stride = tile_stride(n_tiles), n = n_tiles * tile_train;
        std::set<std::int64_t> positions;
        for (std::int64_t i = 0; i < n; ++i)
            positions.insert(position_of(i, n_tiles, stride));
        CHECK(static_cast<std::int64_t>(positions.size()) == n);
        CHECK(*positions.begin() == 0);
        CHECK(*positions.rbegin() == n - 1);
    }
}

TEST_CASE("a run of images is spread over the tiles, and over any run of tiles") {
    constexpr std::int64_t n_tiles = 235, run = 47;  // a fifth
    const std::int64_t stride = tile_stride(n_tiles);
    for (const std::int64_t begin : {0, 100, 11'111}) {
        CAPTURE(begin);
        std::set<std::int64_t> tiles;
        int within_run = 0;  // of tiles
        for (std::int64_t i = begin; i < begin + run; ++i) {
            const std::int64_t tile = position_of(i, n_tiles, stride) / tile_train;
            tiles.insert(tile);
            within_run += tile < n_tiles / 5;
        }
        CHECK(static_cast<std::int64_t>(tiles.size()) == run);
        CHECK(within_run >= 7);
        CHECK(within_run <= 12);  // 9.4 if evenly
    }
}

TEST_CASE("a run of images is spread over the lanes of a tile's rows") {
    for (const std::int64_t n_tiles : {1, 2, 235, 7813}) {
        CAPTURE(n_tiles);
        const std::int64_t stride = tile_stride(n_tiles);
        for (const std::int64_t begin : {0, 100, 7'777}) {
            int lanes[4] = {};
            for (std::int64_t i = begin; i < begin + 64 && i < n_tiles * tile_train; ++i)
                ++lanes[position_of(i, n_tiles, stride) % tile_train / 2 % 4];
            for (const int images : lanes)
                CHECK(images <= 20);  // 16 if evenly
        }
    }
}

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
    for (const bool by_sketches : {false, true})
        for (const bool known : {false, true})
            for (const int tiles : {1, 2, 3, 20, known ? 335 : 235, 4000})
                for (const int k : {1, 2, 5, 10, 32, 100, 128, 1000, 1024}) {
                    CAPTURE(by_sketches);
                    CAPTURE(known);
                    CAPTURE(tiles);
                    CAPTURE(k);
                    const Sampling plain = choose_sampling(tiles, k, 784, pass_tiles);
                    const Sampling sampling = by_sketches
                                                  ? choose_sketch_sampling(tiles, k, pass_tiles, known)
                                              : known ? sampling_of_known(tiles, k, pass_tiles)
                                                      : plain;
                    if (sampling.sample_tiles == 0) {
                        CHECK(plain.sample_tiles == 0);
                        if (!known)
                            CHECK(k >
                                  tiles);  // so large a share of the images that a threshold does not help
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
                    if (by_sketches) {
                        CHECK(sampling.sample_tiles >= std::min(tiles, 2));
                        CHECK(sampling.sample_tiles <= tiles);
                        CHECK(first.survivors * tiles / first.n_tiles >= k);
                    } else if (known) {
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

TEST_CASE("a sampling of MNIST's 235 tiles at k = 5 has the numbers of docs/tensor.md") {
    const Sampling direct = choose_sampling(235, 5, 717, 1000);
    CHECK(direct.sample_tiles == 10);
    REQUIRE(direct.passes.size() == 2);
    CHECK(direct.passes[0].n_tiles == 46);
    CHECK(direct.passes[1].n_tiles == 189);
    CHECK(choose_sketch_sampling(235, 5, 1000, false).sample_tiles == 122);
}

}  // namespace knn::gpu
