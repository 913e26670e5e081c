#pragma once
/// What a picture file says of itself before anything is decoded.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace knn {

struct PictureHeader {
    explicit PictureHeader(std::string format_) : format(std::move(format_)) {}

    std::string format;               ///< "PNG", "JPEG", "BMP", "TIFF", "WebP" or "PNM"
    std::int64_t rows = 0, cols = 0;  ///< as stored; of the first picture
    int orientation = 1;  ///< EXIF's, 1 to 8, where turning the picture is left to the reader; 1: upright
    bool unclear_colors = false;      ///< a JPEG of four colors that does not say which
    bool cut_short = false;           ///< the file ends before its picture does
    std::vector<std::uint8_t> still;  ///< the first picture of an animated WebP as a file; else empty
};

/// None where the bytes begin like none of the formats. Reads within the bytes, whatever they say.
std::optional<PictureHeader> picture_header(std::span<const std::uint8_t> bytes);

/// "a GIF file", where the bytes begin like a well-known kind that is none of the formats; else empty.
std::string foreign_format(std::span<const std::uint8_t> bytes);

}  // namespace knn
