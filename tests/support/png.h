#pragma once
/// PNGs read back by OpenCV, which shares no code with the writer.

#include "tests/support/test.h"

#if MNIST_KNN_HAS_OPENCV
#include <opencv2/imgproc.hpp>

#include "tests/support/codecs.h"
#endif

namespace knn::test {

struct Png {
    int width = 0, height = 0, channels = 0;  ///< 1: gray, 3: red, green, blue
    std::vector<std::uint8_t> pixels;         ///< height × width × channels

    std::uint8_t at(int row, int col, int channel = 0) const {
        return pixels[static_cast<std::size_t>((row * width + col) * channels + channel)];
    }
};

/// Throws std::runtime_error if the bytes are no PNG of 8 bits, or in a build without OpenCV. libpng verifies the checksums.
inline Png read_png([[maybe_unused]] const std::vector<std::uint8_t>& bytes) {
#if MNIST_KNN_HAS_OPENCV
    cv::Mat mat = codecs().imdecode(bytes, cv::IMREAD_UNCHANGED);
    if (bytes[1] != 'P' || mat.depth() != CV_8U || mat.empty()) throw std::runtime_error("no PNG of 8 bits");
    if (mat.channels() == 3) cv::cvtColor(mat, mat, cv::COLOR_BGR2RGB);
    return {mat.cols, mat.rows, mat.channels(), mat.reshape(1, 1)};
#else
    throw std::runtime_error(no_opencv);
#endif
}

}  // namespace knn::test
