/// Erases the lines of boxes and rows of cells around digits, of combs between them, as forms print them, and rings around digits.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <opencv2/imgproc.hpp>
#include <set>
#include <span>
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

// A ring may be open, or its ends cross. A zero is around nothing but a dot or a stroke.
constexpr double least_round =
    0.7;  ///< of the smallest rectangle around its hull; an ellipse fills 0.79 of it
constexpr double least_wide = 0.75,
                 narrowest = 0.55;      ///< of its height: around any stroke, or around none that is straight
constexpr double least_bent = 1.5;      ///< the area of the hull of a stroke that is not straight, in its own
constexpr double thicker = 4;           ///< of the usual width in one direction
constexpr std::size_t most_thick = 3;   ///< directions in which it may be thicker than that
constexpr double fewest_ways = 0.85;    ///< of all directions from its middle
constexpr double deepest = 0.2;         ///< of the shorter side: how far its pixels are from its hull
constexpr double least_outside = 0.98;  ///< of its pixels, which are no deeper
constexpr double least_encircled =
    0.4;  ///< of the shorter side: ink that it is around, which does not touch it

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

/// `own` without the holes whose boxes are smaller than a cell: cv::findContours compares each hole with all before it.
cv::Mat without_small_holes(const cv::Mat& own) {
    cv::Mat background, labels, stats, centers, result = own.clone();
    cv::copyMakeBorder(own == 0, background, 1, 1, 1, 1, cv::BORDER_CONSTANT, 255);  // around it is no hole
    const int count = cv::connectedComponentsWithStats(background, labels, stats, centers, 4);
    std::vector<char> is_small(std::size_t(count), 0);
    for (int label = 1; label < count; ++label)
        is_small[std::size_t(label)] = double(stats.at<int>(label, cv::CC_STAT_WIDTH) + 1) *
                                           (stats.at<int>(label, cv::CC_STAT_HEIGHT) + 1) <
                                       least_cell * least_cell;
    for (int y = 0; y < own.rows; ++y)
        for (int x = 0; x < own.cols; ++x)
            if (is_small[std::size_t(labels.at<int>(y + 1, x + 1))] != 0) result.at<std::uint8_t>(y, x) = 255;
    return result;
}

/// What of `own`, a connected component, lies within the cells that its lines bound; empty if it has no such lines. `ink`: all there is.
cv::Mat within_cells(const cv::Mat& own, const cv::Mat& ink) {
    std::vector<Contour> contours;
    std::vector<cv::Vec4i> tree;
    cv::findContours(without_small_holes(own), contours, tree, cv::RETR_CCOMP, cv::CHAIN_APPROX_NONE);
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
        const cv::Rect within = cv::boundingRect(ink(box) & (depth > 3 * near));
        holds = holds || std::max(within.width, within.height) >= least_within * shorter;
    }
    return holds && of_cells >= least_of_cells * whole ? reaching(core, own & inner) : cv::Mat();
}

/// Whether the pixels of `own` are a closed or nearly closed line around the middle of the rectangle: in most of 72 directions, and in
/// nearly all of these not much thicker than usual, as where a digit touches it.
bool is_line_around(const cv::Mat& own) {
    constexpr int n_directions = 72;
    std::vector<cv::Point> pixels;
    cv::findNonZero(own, pixels);
    std::array<double, n_directions> nearest{}, farthest{};
    for (const cv::Point& pixel : pixels) {
        const double x = pixel.x - 0.5 * own.cols, y = pixel.y - 0.5 * own.rows, radius = std::hypot(x, y);
        const auto way =
            std::size_t((std::atan2(y, x) / std::numbers::pi + 1) * n_directions / 2) % n_directions;
        nearest[way] = farthest[way] == 0 ? radius : std::min(nearest[way], radius);
        farthest[way] = std::max(farthest[way], radius);
    }
    std::vector<double> widths;
    for (std::size_t way = 0; way < n_directions; ++way)
        if (farthest[way] > 0) widths.push_back(farthest[way] - nearest[way] + 1);
    if (double(widths.size()) < fewest_ways * n_directions) return false;
    std::ranges::sort(widths);
    return widths[widths.size() - 1 - most_thick] <= thicker * widths[widths.size() / 2];
}

Contour hull_of(const cv::Mat& mask) {
    Contour pixels, hull;
    cv::findNonZero(mask, pixels);
    cv::convexHull(pixels, hull);
    return hull;
}

/// Whether `own`, a connected component, is a ring around other ink.
bool is_ring(const cv::Mat& own, const cv::Mat& ink) {
    const cv::Mat others = ink & ~own;
    if (own.cols < narrowest * own.rows || cv::countNonZero(others) == 0) return false;
    throw_if_stopped();
    if (!is_line_around(own)) return false;
    const Contour hull = hull_of(own);
    const cv::Size2f sides = cv::minAreaRect(hull).size;
    const double shorter = std::min(sides.width, sides.height);
    if (cv::contourArea(hull) < least_round * sides.area()) return false;
    const cv::Mat depth = depth_in(hull, {{0, 0}, own.size()});
    if (cv::countNonZero(own & (depth > deepest * shorter)) > (1 - least_outside) * cv::countNonZero(own))
        return false;
    const cv::Mat outside = depth == 0;
    cv::Mat labels;
    return std::ranges::any_of(components_of(others, labels), [&](const Component& other) {
        if (std::max(other.box.width, other.box.height) < least_encircled * shorter) return false;
        const cv::Mat its = labels(other.box) == other.label;
        if (cv::countNonZero(its & outside(other.box)) > 0) return false;
        return own.cols >= least_wide * own.rows || cv::contourArea(hull_of(its)) >= least_bent * other.area;
    });
}

// Teeth of a comb are more alike and more evenly spaced than any digits that are written.
constexpr std::size_t fewest_teeth = 4;
constexpr std::size_t most_bars = 2000;  ///< of a page: each two may be the first teeth of a comb
constexpr double least_teeth = 0.6;      ///< of those that the comb would have; digits hide some
constexpr double pitch_error = 0.04;     ///< of the pitch
constexpr double height_error = 0.08;    ///< of the height, also of how high a tooth stands
constexpr double smallest_pitch = 0.5, largest_pitch = 4, shortest_tooth = 0.15;  ///< digits

bool may_be_tooth(const Part& part, double usual) {
    const cv::Rect& box = part.box;
    return box.height >= shortest_tooth * usual && box.width <= 0.2 * box.height + 2 &&
           part.area >= 0.5 * box.area();
}

double middle_of(const Part& part) {
    return part.box.x + 0.5 * part.box.width;
}

/// The teeth of the comb that has `first` and `second` one after another, from the left; none if too many lack. `bars`: from the left.
std::vector<const Part*> teeth_from(const Part& first, const Part& second, std::span<const Part> bars) {
    const double pitch = middle_of(second) - middle_of(first), height = first.box.height;
    const double slope = double(second.box.br().y - first.box.br().y) / pitch,
                 off = 1 + height_error * height;
    std::vector<const Part*> teeth = {&first};
    double places = 1;
    for (const Part& bar : bars) {
        const double across = middle_of(bar) - middle_of(*teeth.back()), steps = std::round(across / pitch);
        const double down = bar.box.br().y - teeth.back()->box.br().y - slope * across;
        if (steps < 1 || std::abs(across - steps * pitch) > 1 + pitch_error * pitch || std::abs(down) > off ||
            std::abs(bar.box.height - height) > off)
            continue;
        teeth.push_back(&bar);
        places += steps;
    }
    return double(teeth.size()) >= least_teeth * places ? teeth : std::vector<const Part*>();
}

// A line below a digit is apart from it; the foot of a broken 2 is less so, and the lowest bar of a display is thicker.
constexpr double thickest_line = 0.15;                 ///< of its length, with its slope
constexpr double nearest_line = 0.03, farthest = 0.6;  ///< of the digit's height: the gap between them
constexpr double least_above = 0.4;                    ///< of the line's length: the height of a digit

bool may_be_underline(const Part& part) {
    return part.box.height <= thickest_line * part.box.width;
}

/// Whether it is a line, as long as the digit at least, below this digit.
bool is_below(const cv::Rect& line, const cv::Rect& digit) {
    const double height = digit.height, gap = line.y - digit.br().y,
                 beside = std::abs(line.x + 0.5 * line.width - digit.x - 0.5 * digit.width);
    // Upright bars at the sides are those of a display.
    const bool is_over = beside <= (digit.width < 0.35 * height ? 0.25 : 0.5) * line.width;
    return is_over && gap >= nearest_line * height && gap <= farthest * height &&
           height >= least_above * line.width && height >= 4 * line.height && line.width >= 0.9 * digit.width;
}

}  // namespace

void erase_underlines(std::vector<Part>& parts) {
    const std::vector<Part> all = parts;
    std::erase_if(parts, [&](const Part& line) {
        if (!may_be_underline(line)) return false;
        throw_if_stopped();
        return std::ranges::any_of(all, [&](const Part& part) { return is_below(line.box, part.box); });
    });
}

void erase_combs(std::vector<Part>& parts, double usual) {
    std::vector<Part> bars;
    std::ranges::copy_if(parts, std::back_inserter(bars),
                         [&](const Part& part) { return may_be_tooth(part, usual); });
    if (bars.size() > most_bars) return;
    std::ranges::sort(bars, {}, middle_of);
    std::set<int> teeth;
    for (auto first = bars.begin(); first != bars.end(); ++first) {
        throw_if_stopped();
        if (teeth.contains(first->label)) continue;
        for (auto second = first + 1; second != bars.end(); ++second) {
            const double pitch = middle_of(*second) - middle_of(*first);
            if (pitch > largest_pitch * usual) break;
            if (pitch < smallest_pitch * usual || std::abs(second->box.y - first->box.y) > 0.2 * pitch)
                continue;
            const std::vector<const Part*> found = teeth_from(*first, *second, bars);
            if (found.size() < fewest_teeth) continue;
            for (const Part* tooth : found)
                teeth.insert(tooth->label);
            break;
        }
    }
    std::erase_if(parts, [&](const Part& part) { return teeth.contains(part.label); });
}

void erase_boxes(cv::Mat& mask) {
    cv::Mat labels;
    for (const auto& [box, label, area] : components_of(mask, labels)) {
        if (std::min(box.width, box.height) < least_cell || area > box.area() / 2) continue;
        throw_if_stopped();
        const cv::Mat own = labels(box) == label, rest = within_cells(own, mask(box));
        if (!rest.empty())
            mask(box).setTo(0, own & ~rest);
        else if (is_ring(own, mask(box)))
            mask(box).setTo(0, own);
    }
}

}  // namespace knn::digit
