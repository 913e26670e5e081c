#pragma once
/// MNIST digits as people photograph and scan them: one alone, and pages of them. Needs OpenCV.

#include <cstdint>
#include <functional>
#include <opencv2/core.hpp>
#include <random>
#include <string>
#include <vector>

#include "data/picture/picture.h"

namespace knn::test {

/// Distortions of an image.
struct Damage {
    std::string name;
    double smallest = 3, largest = 40;  ///< times larger
    bool white_on_black = false;
    double gradient = 0;  ///< how much darker the far corner of the paper is, of its light
    double noise = 0;     ///< standard deviation, of 255
    double blur = 0;      ///< standard deviation, in pixels of the 28×28 image
    double rotation = 0;  ///< most degrees, either way
    double pen = 0;     ///< how much wider (narrower below 0) the strokes get, in pixels of the 28×28 image
    bool jpeg = false;  ///< quality 60
    double margin =
        0.1;  ///< paper around the 28×28 image on each side, in its sides; up to three times as much
    bool off_center = false;
};

/// Each distortion alone, then all of them together, dark on light and light on dark.
std::vector<Damage> damages();

/// Converts 28×28 pixels, 0 = background, to a photo of black ink on paper.
Picture photo_of(const std::uint8_t* pixels, const Damage& damage, std::mt19937& random);

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

/// A frame with side × side cells, a digit in two of five, on a sheet on a dark desk, seen askew: turned by up to 12 degrees, its corners
/// moved by up to 6 % of its side. `digits`: the cells row by row, . for an empty one.
MadePage made_grid(int side, const NextDigit& next, std::mt19937& random);

}  // namespace knn::test
