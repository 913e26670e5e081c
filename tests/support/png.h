#pragma once
/// A PNG reader for tests: 8 bits, gray or color, not interlaced. Uses only zlib and shares no code with the
/// writer.

#include <cstdint>
#include <vector>

namespace knn::test {

struct Png {
    int width = 0, height = 0, channels = 0;  ///< 1: gray, 3: red, green, blue
    std::vector<std::uint8_t> pixels;         ///< height × width × channels

    std::uint8_t at(int row, int col, int channel = 0) const {
        return pixels[static_cast<std::size_t>((row * width + col) * channels + channel)];
    }
};

/// Throws std::runtime_error if the bytes are not such a PNG; verifies the checksum of every chunk.
Png read_png(const std::vector<std::uint8_t>& bytes);

}  // namespace knn::test
