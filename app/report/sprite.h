#pragma once
/// The images of a page, each once, as the tiles of one picture.

#include <cstdint>
#include <map>
#include <vector>

#include "data/set/dataset.h"

namespace knn {

/// Collects images of rows × cols pixels, which outlive it.
class Sprite {
  public:
    Sprite(int rows, int cols) : rows_(rows), cols_(cols) {}

    /// The number of the tile that shows image `index` of `images`; the same image gets the same tile.
    std::int64_t tile(const LabeledImages& images, std::int64_t index);

    /// How many tiles stand side by side.
    int columns() const;

    /// The picture: tiles in order, row by row. At least one row, as no PNG is empty.
    std::vector<std::uint8_t> png() const;

  private:
    int rows_, cols_;
    std::vector<const std::uint8_t*> tiles_;
    std::map<const std::uint8_t*, std::int64_t> numbers_;
};

}  // namespace knn
