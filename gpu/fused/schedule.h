#pragma once
/// Assigns tiles to blocks: a pass over query tiles × training tiles is divided into equal chunks of
/// consecutive tiles, one chunk per block and window.
///
/// A tile is tile_queries × tile_train pairs. Training images are stored in tile order. Each tile is a sample
/// spread over the whole training set, so a set that is sorted by class or by distance costs nothing extra,
/// and the first tiles serve as the sample for the first thresholds.
///
/// The training tiles are traversed in windows that fit in the L2 cache: all query tiles are multiplied with
/// the first window before the second is read. Within a window the tiles are numbered query tile by query
/// tile, and block b takes the tiles b · chunk .. (b + 1) · chunk − 1: pieces of at most a few query tiles.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "data/core/host_device.h"

namespace knn::gpu {

inline constexpr int tile_queries = 128, tile_train = 256;

/// Position of training image i in tile order: consecutive images are in distant tiles, and in consecutive rows of them, as a
/// row decides which list, and which maximum of a sample, an image belongs to. stride: tile_stride(n_tiles).
KNN_HOST_DEVICE inline std::int64_t position_of(std::int64_t i, std::int64_t n_tiles, std::int64_t stride) {
    return i * stride % n_tiles * tile_train + (i / n_tiles + i % n_tiles) % tile_train;
}
/// Coprime to n_tiles and near its golden section, so that any run of consecutive images is spread evenly
/// over the tiles, and over any run of consecutive tiles.
inline std::int64_t tile_stride(std::int64_t n_tiles) {
    auto stride = static_cast<std::int64_t>(std::llround(0.6180339887498949 * static_cast<double>(n_tiles)));
    while (std::gcd(stride, n_tiles) != 1)
        ++stride;
    return stride;
}

/// Consecutive training tiles that one block computes for one query tile.
struct Piece {
    int query_tile = 0;
    int first_tile = 0, n_tiles = 0;  ///< training tiles
    int slot = 0;                     ///< of its survivor lists: 0 <= slot < slots()
    int tiles_before = 0;             ///< of the window
};

struct Schedule {
    int query_tiles = 0;
    int first_tile = 0, train_tiles = 0;  ///< of the training set
    int windows = 1, blocks = 1;

    KNN_HOST_DEVICE int window_begin(int w) const {
        return first_tile + static_cast<int>(std::int64_t{train_tiles} * w / windows);
    }
    KNN_HOST_DEVICE int window_tiles(int w) const { return window_begin(w + 1) - window_begin(w); }
    /// Tiles that each block computes in window w.
    KNN_HOST_DEVICE int chunk(int w) const {
        return static_cast<int>((std::int64_t{query_tiles} * window_tiles(w) + blocks - 1) / blocks);
    }
    /// Maximum number of pieces of a query tile in window w.
    KNN_HOST_DEVICE int window_slots(int w) const {
        const int tiles = window_tiles(w), each = chunk(w);
        return each > 0 ? (tiles + each - 2) / each + 1 : 0;
    }
    KNN_HOST_DEVICE int slots() const {
        int sum = 0;
        for (int w = 0; w < windows; ++w)
            sum += window_slots(w);
        return sum;
    }
    /// How many of the slots of window w a query tile uses; they are the first ones.
    KNN_HOST_DEVICE int used_slots(int query_tile, int w = 0) const {
        const std::int64_t tiles = window_tiles(w), first = query_tile * tiles;
        return static_cast<int>((first + tiles - 1) / chunk(w) - first / chunk(w)) + 1;
    }
    KNN_HOST_DEVICE int max_piece() const {
        int longest = 0;
        for (int w = 0; w < windows; ++w) {
            const int tiles = window_tiles(w), each = chunk(w);
            const int piece = tiles < each ? tiles : each;
            longest = piece > longest ? piece : longest;
        }
        return longest;
    }
};

/// Bytes of training images that stay in the L2 cache.
inline constexpr std::int64_t window_bytes = 25 * 1000 * 1000;

/// A pass over the tiles first_tile .. first_tile + n_tiles − 1; dim: pixels that are multiplied.
inline Schedule schedule_for(std::int64_t query_tiles, int first_tile, int n_tiles, std::int64_t dim,
                             int multiprocessors) {
    Schedule schedule;
    schedule.query_tiles = static_cast<int>(query_tiles);
    schedule.first_tile = first_tile;
    schedule.train_tiles = n_tiles;
    const std::int64_t bytes = std::int64_t{schedule.train_tiles} * tile_train * dim;
    schedule.windows = static_cast<int>(
        std::min<std::int64_t>((bytes + window_bytes - 1) / window_bytes, schedule.train_tiles));
    schedule.blocks = static_cast<int>(
        std::min<std::int64_t>(multiprocessors, std::int64_t{schedule.query_tiles} * schedule.train_tiles));
    return schedule;
}

/// Iterates over the pieces of one block in the order of computation.
class Pieces {
  public:
    KNN_HOST_DEVICE Pieces(const Schedule& schedule, int block) : schedule_(schedule), block_(block) {
        enter_window();
    }
    /// Sets `piece` to the next one; false if there is none.
    KNN_HOST_DEVICE bool next(Piece& piece) {
        while (at_ >= end_) {
            slots_before_ += schedule_.window_slots(window_);
            if (++window_ >= schedule_.windows) return false;
            enter_window();
        }
        const int tiles = schedule_.window_tiles(window_);
        piece.query_tile = static_cast<int>(at_ / tiles);
        const int offset = static_cast<int>(at_ % tiles);
        const std::int64_t left = end_ - at_;
        piece.first_tile = schedule_.window_begin(window_) + offset;
        piece.tiles_before = offset;
        piece.n_tiles = left < tiles - offset ? static_cast<int>(left) : tiles - offset;
        const std::int64_t first_index = std::int64_t{piece.query_tile} * tiles;
        piece.slot = slots_before_ + block_ - static_cast<int>(first_index / schedule_.chunk(window_));
        at_ += piece.n_tiles;
        return true;
    }

  private:
    KNN_HOST_DEVICE void enter_window() {
        const std::int64_t tiles = std::int64_t{schedule_.query_tiles} * schedule_.window_tiles(window_);
        const std::int64_t each = schedule_.chunk(window_);
        at_ = block_ * each < tiles ? block_ * each : tiles;
        end_ = at_ + each < tiles ? at_ + each : tiles;
    }

    const Schedule& schedule_;
    int block_, slots_before_ = 0, window_ = 0;
    std::int64_t at_ = 0, end_ = 0;
};

}  // namespace knn::gpu
