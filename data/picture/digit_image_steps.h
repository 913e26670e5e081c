#pragma once
/// The steps of digit_image.h in order. Included only by digit_image*.cpp.

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "data/picture/digit_image.h"

namespace knn::digit {

/// Darkness of the ink in each pixel, 0 (paper) to 1 (black), at working size; lengths below are in working
/// pixels.
struct Ink {
    cv::Mat amount;      ///< CV_32F
    double scale = 1;    ///< working pixels per pixel of the picture
    double noise = 0;    ///< standard deviation of paper, in units of `amount`
    bool light = false;  ///< light ink on a dark background
    cv::Mat evened;      ///< CV_8U, dark on light, for display
};

/// A connected component.
struct Part {
    cv::Rect box;
    double area = 0;  ///< pixels
    double peak = 0;  ///< of the ink, 98th percentile
    double mass = 0;  ///< sum of the ink
    double pen = 0;   ///< width of the stroke, pixels
    int edges = 0;    ///< pixels on the picture's border
    int label = 0;    ///< in Parts::labels
};

struct Parts {
    cv::Mat labels;  ///< CV_32S, 0 = paper
    std::vector<Part> parts;
    double speck_mass = 0;  ///< of components that were too small
};

/// The parts of one digit.
struct Group {
    std::vector<Part> parts;
    cv::Rect box;
    double mass = 0, peak = 0, pen = 0;
};

/// Working size, polarity, illumination: digit_image_light.cpp.
Ink find_ink(const cv::Mat& gray);

/// Ink without paper and ruled lines, as connected components: digit_image_parts.cpp.
Parts find_parts(const Ink& ink);

/// The digit of a picture; `refused`: why there is none. digit_image_group.cpp.
Group one_group(const Parts& parts, cv::Size size, std::string& refused);
/// The digits of a page in reading order.
std::vector<Group> all_groups(const Parts& parts, cv::Size size);

/// The strongest ink near each pixel: within `reach` pixels, of `own` (CV_32F, 0 where there is other ink), but
/// at least `least`. A faint part of a stroke is measured by this, not by the digit's darkest part.
/// digit_image_parts.cpp
cv::Mat local_peak(const cv::Mat& own, double reach, double least);

/// Pixels of the group, at working size: 0 elsewhere, 1 for full ink. CV_32F. digit_image_place.cpp
cv::Mat ink_of(const Ink& ink, const Parts& parts, const Group& group);
/// The same with MNIST's stroke width; `pen`: the current width, in pixels of `levels`.
cv::Mat with_usual_pen(const cv::Mat& levels, double pen);
/// `levels` as 28×28 the way MNIST was made, the digit's longer side `longest` pixels. CV_8U.
cv::Mat placed(const cv::Mat& levels, int longest);
/// The bounding box of pixels above 0.5.
cv::Rect box_of(const cv::Mat& levels);

}  // namespace knn::digit
