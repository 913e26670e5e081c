#include "gpu/fused/triangle.h"

#include <doctest/doctest.h>

#include <array>
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

TEST_CASE("the blocks of a fused search share out all tiles, none twice") {
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

TEST_CASE("the blocks of a self search share out a triangle: each two tiles in both directions, none twice") {
    for (const auto& [tiles, first_tile, windows, blocks] : {std::array{2, 1, 1, 1},
                                                             {3, 1, 1, 5},
                                                             {7, 2, 3, 4},
                                                             {235, 20, 2, 132},
                                                             {40, 39, 1, 132},
                                                             {40, 1, 5, 3}}) {
        CAPTURE(tiles);
        CAPTURE(first_tile);
        const Triangle triangle = share_triangle(tiles, first_tile, windows, blocks);
        REQUIRE(static_cast<int>(triangle.begin.size()) == blocks + 1);
        CHECK(triangle.begin.back() == static_cast<int>(triangle.pieces.size()));
        // found[i, t]: how often the images of query tile i meet those of tile t, by rows and by columns.
        std::map<std::pair<int, int>, int> found;
        std::set<std::pair<int, int>> slots;
        const PieceList list{triangle.pieces.data(), triangle.begin.data()};
        std::int64_t most = 0, sum = 0;
        for (int block = 0; block < blocks; ++block) {
            ListedPieces pieces(list, block);
            std::int64_t of_block = 0;
            for (Piece piece; pieces.next(piece);) {
                CHECK(piece.n_tiles >= 1);
                CHECK(piece.n_tiles <= triangle.max_piece);
                CHECK(piece.slot < triangle.slots);
                CHECK(slots.insert({piece.query_tile, piece.slot}).second);
                of_block += piece.n_tiles;
                for (int t = piece.first_tile; t < piece.first_tile + piece.n_tiles; ++t) {
                    ++found[{piece.query_tile, t}];
                    if (!counts_for_both(piece, t)) continue;
                    ++found[{2 * t, piece.query_tile / 2}];
                    ++found[{2 * t + 1, piece.query_tile / 2}];
                }
            }
            most = std::max(most, of_block);
            sum += of_block;
        }
        CHECK(most <= sum / blocks + windows);
        for (int q = 0; q < 2 * tiles; ++q)
            for (int t = first_tile; t < tiles; ++t) {
                CAPTURE(q);
                CAPTURE(t);
                // A column's tile meets a row's twice: once for each of its two query tiles.
                CHECK(found[{q, t}] == (t < q / 2 ? 2 : 1));
            }
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
