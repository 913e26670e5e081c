#pragma once
/// PNGs read back by OpenCV, which shares no code with the writer.

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

/// Throws std::runtime_error if the bytes are no PNG of 8 bits, or in a build without OpenCV. libpng verifies the checksums.
Png read_png(const std::vector<std::uint8_t>& bytes);

}  // namespace knn::test
