#pragma once
/// Properties of a picture file, read before decoding.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/picture/picture.h"

namespace knn {

struct PictureHeader {
    explicit PictureHeader(std::string format_) : format(std::move(format_)) {}

    std::string format;                         ///< "PNG", "JPEG", "BMP", "TIFF", "WebP" or "PNM"
    std::int64_t rows = 0, cols = 0;            ///< as stored; of the first picture
    std::int64_t tile_rows = 0, tile_cols = 0;  ///< of a TIFF in tiles, which may be larger than the picture
    std::int64_t weight = 1;      ///< of a TIFF: a pixel of 8 bytes counts as one, of 16 bytes as two
    int orientation = 1;          ///< EXIF's, 1 to 8, if the reader must rotate the picture; 1: upright
    int scans = 0;                ///< of a JPEG: passes over its pixels
    bool unclear_colors = false;  ///< a JPEG of four unspecified components
    bool apart = false;      ///< a TIFF of planes above 8 bits, one for each color, which OpenCV mixes up
    bool negative = false;   ///< a TIFF above 8 bits whose white is 0, which OpenCV does not turn into light
    bool odd_range = false;  ///< a PNM of samples that end neither at 65535 nor at 255, in ASCII above that
    bool padded = false;     ///< a PNG with more data than any pixels of its size take
    bool cut_short = false;  ///< the file is truncated
    Opacity opacity;
    /// What to decode instead: the first picture of an animated WebP as a file, a PNG without its compressed texts, a
    /// TIFF as it is stored, not turned, a BMP without masks in a header of which OpenCV reads none, or PNM without
    /// comments, plain PNM with a line end behind its last digit, which OpenCV asks for; else empty.
    std::vector<std::uint8_t> still;

    /// Whether neither the picture nor a tile has more pixels.
    bool fits(std::int64_t most) const {
        most /= weight;
        return (cols == 0 || rows <= most / cols) && (tile_cols == 0 || tile_rows <= most / tile_cols);
    }
    /// What is decoded at once, if it fits.
    std::int64_t pixels() const { return weight * std::max(rows * cols, tile_rows * tile_cols); }
};

/// None if the bytes do not begin like any of the formats. Never reads out of bounds, for any content.
std::optional<PictureHeader> picture_header(std::span<const std::uint8_t> bytes);

/// "a GIF file", if the bytes begin like a well-known kind that is not supported; else empty.
std::string foreign_format(std::span<const std::uint8_t> bytes);

}  // namespace knn
