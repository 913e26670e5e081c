#include "tests/support/png.h"

#include <stdexcept>

#include "tests/support/skip.h"

#if MNIST_KNN_HAS_OPENCV
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#endif

namespace knn::test {

#if MNIST_KNN_HAS_OPENCV
Png read_png(const std::vector<std::uint8_t>& bytes) {
    cv::Mat mat = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
    if (bytes[1] != 'P' || mat.depth() != CV_8U || mat.empty()) throw std::runtime_error("no PNG of 8 bits");
    if (mat.channels() == 3) cv::cvtColor(mat, mat, cv::COLOR_BGR2RGB);
    return {mat.cols, mat.rows, mat.channels(), mat.reshape(1, 1)};
}
#else
Png read_png(const std::vector<std::uint8_t>&) {
    throw std::runtime_error(no_opencv);
}
#endif

}  // namespace knn::test
