#pragma once
/// Digits drawn for tests of pictures. Needs OpenCV.

#include <opencv2/imgproc.hpp>

#include "data/picture/picture.h"

namespace knn::test {

inline Picture picture_of(const cv::Mat& gray) {
    Picture picture{gray.rows, gray.cols, std::vector<std::uint8_t>(gray.total())};
    gray.copyTo(cv::Mat(gray.rows, gray.cols, CV_8U, picture.gray.data()));
    return picture;
}

/// A 4 of straight strokes, 60×100 times `zoom`, its upper left corner at `at`.
inline void draw_four(cv::Mat& mat, cv::Point at, int pen, double value, int zoom = 1) {
    const auto point = [&](int x, int y) { return at + zoom * cv::Point(x, y); };
    const std::vector<cv::Point> line = {point(0, 0), point(0, 60), point(60, 60)};
    cv::polylines(mat, line, false, cv::Scalar(value), pen);
    cv::line(mat, point(45, 20), point(45, 100), cv::Scalar(value), pen);
}

/// Whether the corner is within `by` pixels and the size within twice as many.
inline bool near(const Box& box, int x, int y, int w, int h, int by) {
    return std::abs(box.x - x) <= by && std::abs(box.y - y) <= by && std::abs(box.w - w) <= 2 * by &&
           std::abs(box.h - h) <= 2 * by;
}

}  // namespace knn::test
