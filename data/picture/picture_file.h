#pragma once
/// Picture files (PNG, JPEG, BMP, TIFF, WebP, PNM), decoded by OpenCV, recognized by content, never by name.

#include <cstdint>
#include <span>
#include <string>

#include "data/picture/picture.h"

namespace knn {

/// Maximum number of pixels that are decoded: 100 megapixels.
inline constexpr std::int64_t max_picture_pixels = 100'000'000;

/// What decoding takes at most: four 16-bit samples, their 8-bit copies, and gray on white and on black paper.
inline constexpr std::int64_t decoding_bytes_per_pixel = 16;

/// Makes OpenCV's codecs refuse more than that, too. Sets an environment variable: to be called before the
/// first picture is read and before other threads begin.
void limit_codecs();

/// The picture rotated clockwise by this many quarter turns, 0 to 3.
Picture turned(Picture picture, int quarters);

/// Throws DataError, one line: `name: what is wrong; what was expected`. Sizes are read from the header and
/// checked before decoding. Animated and multi-page files give their first picture.
/// Throws std::bad_alloc if memory is short, Interrupted if a stop is requested while reading (data/file/transfer.h).
Picture read_picture(const std::string& file);
Picture read_picture(int descriptor, const std::string& name);
Picture decode_picture(std::span<const std::uint8_t> bytes, const std::string& name);

/// The name of the picture that a codec decodes in the calling thread, null if there is none. For signal handlers: codecs
/// may end the process (GDAL aborts where memory is short).
const char* picture_in_codec() noexcept;

}  // namespace knn
