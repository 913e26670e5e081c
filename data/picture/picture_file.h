#pragma once
/// Picture files (PNG, JPEG, BMP, TIFF, WebP, PNM), decoded by OpenCV, recognized by content, never by name.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
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

/// Bounds the memory of pictures that are decoded at the same time: what threads that decode pictures share.
class PictureMemory {
  public:
    /// Calls `work`, which decodes the picture `file`, once what it may need (by the file's header, and `more_bytes` beside
    /// that) fits into memory with the pictures of other threads: all together take no more than one of the largest size.
    /// A picture whose size is not known before it is read (a pipe, standard input) is alone. If memory runs out, `work`
    /// is called again as soon as no other picture is in work, so that an answer depends on no other picture; throws
    /// std::bad_alloc if that does not help.
    void decode(const std::string& file, std::int64_t more_bytes, const std::function<void()>& work);

  private:
    class Share;

    std::mutex mutex_;  ///< of `used_`
    std::condition_variable released_;
    std::int64_t used_ = 0;
};

/// The name of the picture that a codec decodes in the calling thread, null if there is none. For signal handlers: codecs
/// may end the process (GDAL aborts where memory is short).
const char* picture_in_codec() noexcept;

}  // namespace knn
