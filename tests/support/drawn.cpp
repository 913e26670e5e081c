#include "tests/support/drawn.h"

#include <cstdlib>
#include <opencv2/imgproc.hpp>

namespace knn::test {

Picture picture_of(const cv::Mat& gray) {
    Picture picture{gray.rows, gray.cols, std::vector<std::uint8_t>(gray.total())};
    gray.copyTo(cv::Mat(gray.rows, gray.cols, CV_8U, picture.gray.data()));
    return picture;
}

void draw_four(cv::Mat& mat, cv::Point at, int pen, double value, int zoom) {
    const auto point = [&](int x, int y) { return at + zoom * cv::Point(x, y); };
    const std::vector<cv::Point> line = {point(0, 0), point(0, 60), point(60, 60)};
    cv::polylines(mat, line, false, cv::Scalar(value), pen);
    cv::line(mat, point(45, 20), point(45, 100), cv::Scalar(value), pen);
}

bool near(const Box& box, int x, int y, int w, int h, int by) {
    return std::abs(box.x - x) <= by && std::abs(box.y - y) <= by && std::abs(box.w - w) <= 2 * by &&
           std::abs(box.h - h) <= 2 * by;
}

}  // namespace knn::test
