#include "gpu/fused/triangle.h"

#include <algorithm>

#include "data/core/round_up.h"

namespace knn::gpu {

namespace {

constexpr int queries_per_tile = tile_train / tile_queries;

/// One window: equal numbers of tiles for all blocks, query tile by query tile.
void share_window(int tiles, int first_tile, int begin, int end, std::vector<std::vector<Piece>>& blocks,
                  std::vector<int>& slots) {
    const auto first_of = [&](int query_tile) { return std::max(begin, query_tile / queries_per_tile); };
    std::int64_t sum = 0;
    for (int q = 0; q < queries_per_tile * tiles; ++q)
        sum += std::max(end - first_of(q), 0);
    const std::int64_t each = divide_up(sum, std::ssize(blocks));
    std::size_t block = 0;
    std::int64_t left = each;
    for (int q = 0; q < queries_per_tile * tiles; ++q)
        for (int t = first_of(q); t < end;) {
            const int n = static_cast<int>(std::min<std::int64_t>(left, end - t));
            int& slot = slots[static_cast<std::size_t>(q)];
            blocks[block].push_back({q, t, n, slot++, q / queries_per_tile >= first_tile});
            t += n;
            left -= n;
            if (left > 0) continue;
            ++block;
            left = each;
        }
}

}  // namespace

Triangle share_triangle(int tiles, int first_tile, int windows, int blocks) {
    std::vector<std::vector<Piece>> shared(static_cast<std::size_t>(blocks));
    std::vector<int> slots(static_cast<std::size_t>(queries_per_tile * tiles));
    const Schedule rows{queries_per_tile * tiles, first_tile, tiles - first_tile, windows, blocks};
    for (int w = 0; w < windows; ++w)
        share_window(tiles, first_tile, rows.window_begin(w), rows.window_begin(w + 1), shared, slots);
    Triangle triangle;
    triangle.slots = *std::max_element(slots.begin(), slots.end());
    for (const std::vector<Piece>& pieces : shared) {
        triangle.begin.push_back(static_cast<std::int32_t>(triangle.pieces.size()));
        for (const Piece& piece : pieces) {
            triangle.max_piece = std::max(triangle.max_piece, piece.n_tiles);
            triangle.pieces.push_back(piece);
        }
    }
    triangle.begin.push_back(static_cast<std::int32_t>(triangle.pieces.size()));
    return triangle;
}

}  // namespace knn::gpu
