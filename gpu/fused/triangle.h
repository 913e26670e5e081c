#pragma once
/// Assigns tiles to blocks where a training set is searched with itself: of each two tiles of images one product is
/// computed, which gives the scores of both.
///
/// Tile t of the training set is the query tiles 2t and 2t + 1. Query tile q is multiplied with the training tiles from
/// max(first_tile, ⌊q / 2⌋) on: the tiles before `first_tile` have been searched for all queries. Where q's own images
/// come after `first_tile`, the products with tiles after its own count for both sides.

#include <cstdint>
#include <vector>

#include "gpu/fused/schedule.h"

namespace knn::gpu {

/// The pieces of all blocks, block after block.
struct Triangle {
    std::vector<Piece> pieces;
    std::vector<std::int32_t> begin;  ///< of each block's, and the end
    int slots = 0;                    ///< pieces of a query tile, at most
    int max_piece = 0;                ///< tiles
};

/// Windows as in schedule.h: `windows` runs of the tiles first_tile .. tiles − 1, one after another.
Triangle share_triangle(int tiles, int first_tile, int windows, int blocks);

/// Whether products of this query tile with this training tile are also those of the training tile's images.
KNN_HOST_DEVICE inline bool counts_for_both(const Piece& piece, int tile) {
    return piece.both && tile > piece.query_tile / 2;
}

/// A triangle in device memory.
struct PieceList {
    const Piece* d_pieces = nullptr;
    const std::int32_t* d_begin = nullptr;  ///< blocks + 1
};

/// Iterates over the pieces of one block, as Pieces does.
class ListedPieces {
  public:
    KNN_HOST_DEVICE ListedPieces(const PieceList& list, int block)
        : at_(list.d_pieces + list.d_begin[block]), end_(list.d_pieces + list.d_begin[block + 1]) {}
    KNN_HOST_DEVICE bool next(Piece& piece) {
        if (at_ == end_) return false;
        piece = *at_++;
        return true;
    }

  private:
    const Piece *at_, *end_;
};

}  // namespace knn::gpu
