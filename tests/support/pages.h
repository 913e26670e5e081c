#pragma once
/// Pages of MNIST digits, as people photograph and scan them. Needs OpenCV.

#include <functional>
#include <opencv2/core.hpp>
#include <random>
#include <string>
#include <vector>

namespace knn::test {

/// What is on a page and around it.
struct PageKind {
    std::string name;
    int rows = 2, cols = 6;              ///< of digits
    double smallest = 40, largest = 90;  ///< height of a digit, pixels
    double slope = 0;                    ///< most degrees that a row falls or rises
    double shadow = 0;                   ///< how much light it takes
    std::string beside = {};             ///< "desk", "phone", "finger" at the edge, or nothing
    int ruled = 0;                       ///< 1: lines, 2: squares, 3: a table with a digit in each cell
    bool touching = false;               ///< pairs of digits overlap
    bool broken = false;                 ///< each digit has a gap of 1.5 pixels of 28
    bool text = false;                   ///< printed words above the digits
    bool light = false;                  ///< light ink on a dark ground
    double noise = 3, blur = 0.6;        ///< standard deviations, of 255 and in pixels
    double faintest = 0.45;              ///< least contrast of the ink to the paper
    std::pair<double, double> pen = {-0.5, 1};  ///< change of the stroke's width, pixels of 28
};

std::vector<PageKind> page_kinds();

struct MadePage {
    cv::Mat gray;
    std::string digits;  ///< rows separated by /
};

/// The pixels of the next digit and its label.
using NextDigit = std::function<std::pair<const std::uint8_t*, int>()>;

MadePage made_page(const PageKind& kind, const NextDigit& next, std::mt19937& random);

}  // namespace knn::test
