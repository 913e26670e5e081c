/// Erases the lines of boxes and rows of cells around digits, as forms print them.

#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "data/file/transfer.h"
#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

constexpr double least_cell = 16;       ///< shorter side of a cell, working pixels
constexpr double least_filled = 0.9;    ///< of the smallest rectangle around a cell; corners may be rounded
constexpr double least_of_cells = 0.5;  ///< of the area within the lines
constexpr double crooked = 0.02;        ///< of the shorter side: how far a line may be from straight
constexpr double least_within = 0.25;   ///< of the shorter side: ink that a cell is around

using Contour = std::vector<cv::Point>;

/// How deep each pixel of a convex contour is within it; 0 outside. CV_32F
cv::Mat depth_in(const Contour& contour, const cv::Rect& box) {
    cv::Mat inside = cv::Mat::zeros(box.size(), CV_8U), depth;
    cv::fillPoly(inside, std::vector{contour}, 255, cv::LINE_8, 0, -box.tl());
    cv::copyMakeBorder(inside, inside, 1, 1, 1, 1, cv::BORDER_CONSTANT, 0);
    cv::distanceTransform(inside, depth, cv::DIST_L2, 5);
    return depth(cv::Rect({1, 1}, box.size()));
}

/// The components of `mask` that have pixels of `core`: others are rests of crooked lines.
cv::Mat reaching(const cv::Mat& core, const cv::Mat& mask) {
    cv::Mat labels, result = cv::Mat::zeros(mask.size(), CV_8U);
    std::vector<char> reaches(std::size_t(cv::connectedComponents(mask, labels, 8)));
    for (const bool marks : {true, false})
        for (int y = 0; y < mask.rows; ++y)
            for (int x = 0; x < mask.cols; ++x) {
                const int label = labels.at<int>(y, x);
                if (marks && label > 0 && core.at<std::uint8_t>(y, x) != 0) reaches[std::size_t(label)] = 1;
                if (!marks && reaches[std::size_t(label)] != 0) result.at<std::uint8_t>(y, x) = 255;
            }
    return result;
}

/// What of `own`, a connected component, lies within the cells that its lines bound; empty if it has no such lines. `ink`: all there is.
cv::Mat within_cells(const cv::Mat& own, const cv::Mat& ink) {
    std::vector<Contour> contours;
    std::vector<cv::Vec4i> tree;
    cv::findContours(own, contours, tree, cv::RETR_CCOMP, cv::CHAIN_APPROX_NONE);
    cv::Mat inner = cv::Mat::zeros(own.size(), CV_8U), core = inner.clone();
    double whole = 0, of_cells = 0;
    bool holds = false;
    for (std::size_t i = 0; i < contours.size(); ++i) {
        Contour hull;
        cv::convexHull(contours[i], hull);
        const double area = cv::contourArea(hull);
        const bool is_hole = tree[i][3] >= 0;
        if (!is_hole) whole += area;
        const cv::Size2f sides = cv::minAreaRect(hull).size;
        const double shorter = std::min(sides.width, sides.height);
        if (!is_hole || shorter < least_cell || area < least_filled * sides.area()) continue;
        throw_if_stopped();
        of_cells += area;
        const cv::Rect box = cv::boundingRect(hull);
        const double near = 2 + crooked * shorter;
        const cv::Mat depth = depth_in(hull, box);
        inner(box) |= depth > near;
        core(box) |= depth > 3 * near;
        const cv::Rect within = cv::boundingRect(ink(box) & (depth > near));
        holds = holds || std::max(within.width, within.height) >= least_within * shorter;
    }
    return holds && of_cells >= least_of_cells * whole ? reaching(core, own & inner) : cv::Mat();
}

}  // namespace

void erase_boxes(cv::Mat& mask) {
    cv::Mat labels, stats, centers;
    const int count = cv::connectedComponentsWithStats(mask, labels, stats, centers, 8);
    for (int i = 1; i < count; ++i) {
        const int* stat = stats.ptr<int>(i);
        const cv::Rect box(stat[0], stat[1], stat[2], stat[3]);
        if (std::min(box.width, box.height) < least_cell || stat[4] > box.area() / 2) continue;
        throw_if_stopped();
        const cv::Mat own = labels(box) == i, rest = within_cells(own, mask(box));
        if (!rest.empty()) mask(box).setTo(0, own & ~rest);
    }
}

}  // namespace knn::digit
