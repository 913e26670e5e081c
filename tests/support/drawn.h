#pragma once
/// Digits drawn for tests of pictures. Needs OpenCV.

#include <opencv2/core.hpp>

#include "data/picture/picture.h"

namespace knn::test {

Picture picture_of(const cv::Mat& gray);

/// A 4 of straight strokes, 60×100 times `zoom`, its upper left corner at `at`.
void draw_four(cv::Mat& mat, cv::Point at, int pen, double value, int zoom = 1);

/// Whether the corner is within `by` pixels and the size within twice as many.
bool near(const Box& box, int x, int y, int w, int h, int by);

}  // namespace knn::test
