#pragma once
/// The images of a page as tiles of one picture, without duplicates.

#include <cstdint>
#include <map>
#include <vector>

#include "data/set/dataset.h"

namespace knn {

/// Collects images of rows × cols pixels, which must outlive it.
class Sprite {
  public:
    Sprite(int rows, int cols) : rows_(rows), cols_(cols) {}

    /// The tile of image `index` of `images`; the same image gets the same tile.
    std::int64_t tile(const LabeledImages& images, std::int64_t index);

    /// Tiles per row.
    int columns() const;

    /// The picture: tiles in order, row by row. At least one row, because a PNG cannot be empty.
    std::vector<std::uint8_t> png() const;

  private:
    int rows_, cols_;
    std::vector<const std::uint8_t*> tiles_;
    std::map<const std::uint8_t*, std::int64_t> numbers_;
};

}  // namespace knn
