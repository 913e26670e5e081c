#include "gpu/fused/schedule.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <utility>

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

}  // namespace knn::gpu
