#include "gpu/fused/schedule.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <utility>

namespace knn::gpu {

namespace {

/// Every tile once, every slot of a query tile by one block alone, every piece within what was announced.
void check_schedule(const Schedule& schedule) {
    std::set<std::pair<int, int>> tiles, slots;
    std::map<int, int> used;  // slots of each query tile
    for (int block = 0; block < schedule.blocks; ++block) {
        Pieces pieces(schedule, block);
        for (Piece piece; pieces.next(piece);) {
            CHECK(piece.n_tiles >= 1);
            CHECK(piece.n_tiles <= schedule.longest_piece());
            CHECK(piece.slot >= schedule.first_slot);
            CHECK(piece.slot < schedule.first_slot + schedule.slots());
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
    for (const Schedule& schedule : {Schedule{1, 0, 1, 1, 1, 0},
                                     {1, 0, 235, 2, 132, 0},
                                     {79, 0, 9, 1, 132, 0},
                                     {79, 9, 226, 2, 132, 3},
                                     {7, 3, 11, 5, 13, 1},
                                     {469, 29, 206, 2, 132, 2},
                                     {2, 1, 5, 5, 10, 2}}) {
        CAPTURE(schedule.query_tiles);
        CAPTURE(schedule.train_tiles);
        check_schedule(schedule);
    }
}

TEST_CASE("places in the order of the tiles and images belong to each other one to one") {
    for (const std::int64_t n_tiles : {1, 2, 7, 235}) {
        std::set<std::int64_t> places;
        for (std::int64_t i = 0; i < n_tiles * tile_train; ++i) {
            const std::int64_t place = place_of(i, n_tiles);
            CHECK(image_at(place, n_tiles) == i);
            places.insert(place);
        }
        CHECK(*places.rbegin() == n_tiles * tile_train - 1);
        CHECK(static_cast<std::int64_t>(places.size()) == n_tiles * tile_train);
    }
}

}  // namespace knn::gpu
