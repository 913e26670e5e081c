/// Erases the lines of ruled and squared paper and of tables.

#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

constexpr std::size_t few_lines = 4;  ///< more than the bars of a digit

/// What counts as a horizontal line; lengths in pixels.
struct LineRule {
    int piece;         ///< length of straight ink that is a piece of a line
    int thick;         ///< ink higher than this is a stroke that crosses the line
    double thickness;  ///< most of a line, on average
    double few, many;  ///< least width of a line; `many` if there are at least few_lines as wide as that
    int bridge;        ///< height of the gaps to close in strokes where a line was
};

/// A thin and nearly straight horizontal line.
struct Line {
    cv::Rect box;
    cv::Mat ink;  ///< its pixels within the box
};

std::vector<Line> lines_in(const cv::Mat& mask, const LineRule& rule) {
    cv::Mat runs, thick, joined, labels;
    cv::morphologyEx(mask, runs, cv::MORPH_OPEN, cv::Mat::ones(1, rule.piece, CV_8U));
    // A digit's bar is thicker than a line; a shadow edge across the lines would connect them all.
    cv::morphologyEx(mask, thick, cv::MORPH_OPEN, cv::Mat::ones(rule.thick, 1, CV_8U));
    runs &= ~thick;
    // Slanted lines are steps; noise leaves gaps.
    cv::dilate(runs, joined, cv::Mat::ones(3, rule.piece / 2 | 1, CV_8U));
    std::vector<Line> few, many;
    for (const auto& [box, label, area] : components_of(joined, labels)) {
        if (box.width < rule.many) continue;
        const Line line{box, (labels(box) == label) & runs(box)};
        if (double(cv::countNonZero(line.ink)) / box.width > rule.thickness) continue;
        if (box.width >= rule.few) few.push_back(line);
        many.push_back(line);
    }
    return many.size() >= few_lines ? many : few;
}

cv::Mat drawn(const std::vector<Line>& lines, cv::Size size) {
    cv::Mat all = cv::Mat::zeros(size, CV_8U);
    for (const Line& line : lines)
        all(line.box).setTo(255, line.ink);
    return all;
}

/// `mask` without horizontal lines, except where a stroke crosses them.
cv::Mat without(const std::vector<Line>& lines, const cv::Mat& mask, const LineRule& rule) {
    if (lines.empty()) return mask;
    cv::Mat wide, bridged;
    cv::dilate(drawn(lines, mask.size()), wide, cv::Mat::ones(3, 1, CV_8U));
    const cv::Mat rest = mask & ~wide;
    // Reconnects what remains above and below a line.
    cv::morphologyEx(rest, bridged, cv::MORPH_CLOSE, cv::Mat::ones(rule.bridge, 1, CV_8U));
    return rest | (bridged & wide & mask);
}

/// The lines of both directions; those of `down` are in the transposed mask.
struct Lines {
    std::vector<Line> across, down;

    Lines(const cv::Mat& mask, const LineRule& rule, const LineRule& turned_rule)
        : across(lines_in(mask, rule)), down(lines_in(without(across, mask, rule).t(), turned_rule)) {}

    /// Erases them; returns their pixels.
    cv::Mat erase(cv::Mat& mask, const LineRule& rule, const LineRule& turned_rule) const {
        const cv::Size turned_size(mask.rows, mask.cols);
        cv::Mat all = drawn(across, mask.size()) | drawn(down, turned_size).t();
        mask = without(down, without(across, mask, rule).t(), turned_rule).t();
        return all;
    }
};

cv::Rect turned(const cv::Rect& box) {
    return {box.y, box.x, box.height, box.width};
}

/// The box of the ink that lines leave, without pieces of these lines.
cv::Rect box_of_rest(const cv::Mat& rest, const Lines& lines) {
    cv::Mat labels;
    const int margin = 2 + std::max(rest.rows, rest.cols) / 50;
    const auto in = [&](const cv::Rect& box, const cv::Rect& line) {
        const cv::Rect wide = line + cv::Size(2 * margin, 2 * margin) - cv::Point(margin, margin);
        return (box & wide) == box;
    };
    cv::Rect all;
    for (const Component& one : components_of(rest, labels)) {
        const cv::Rect& box = one.box;
        const bool piece = std::any_of(lines.across.begin(), lines.across.end(),
                                       [&](const Line& line) { return in(box, line.box); }) ||
                           std::any_of(lines.down.begin(), lines.down.end(),
                                       [&](const Line& line) { return in(box, turned(line.box)); });
        if (!piece && std::max(box.width, box.height) >= 0.2 * std::max(rest.rows, rest.cols)) all |= box;
    }
    return all;
}

/// Whether a horizontal line is a stroke of a digit that fills the picture. The lines of paper run from border to border;
/// those of a frame extend beyond the ink within it at both ends.
bool is_stroke_of_digit(const Line& line, const cv::Rect& rest, int width) {
    const cv::Rect ink = cv::boundingRect(line.ink) + line.box.tl();
    const int left = ink.x, right = ink.br().x;
    if (left <= 0.01 * width && right >= 0.99 * width) return false;
    const double margin = 0.1 * ink.width;
    return rest.empty() || rest.x - left <= margin || right - rest.br().x <= margin;
}

LineRule rule_of_picture(cv::Size size) {
    return {std::max(12, size.width / 25),
            int(0.006 * size.height) + 2,
            0.025 * size.height + 2,
            0.85 * size.width,
            0.25 * size.width,
            2 * std::max(3, size.height / 100) + 1};
}

}  // namespace

cv::Mat erase_ruled_lines(cv::Mat& mask) {
    const LineRule rule = rule_of_picture(mask.size());
    const LineRule turned_rule = rule_of_picture(cv::Size(mask.rows, mask.cols));
    Lines lines(mask, rule, turned_rule);
    cv::Mat rest = mask.clone();
    cv::Mat erased = lines.erase(rest, rule, turned_rule);
    if (lines.across.size() < few_lines && lines.down.size() < few_lines) {
        const cv::Rect box = box_of_rest(rest, lines);
        std::erase_if(lines.across,
                      [&](const Line& line) { return is_stroke_of_digit(line, box, mask.cols); });
        std::erase_if(lines.down,
                      [&](const Line& line) { return is_stroke_of_digit(line, turned(box), mask.rows); });
        rest = mask.clone();
        erased = lines.erase(rest, rule, turned_rule);
    }
    mask = rest;
    return erased;
}

cv::Mat erase_page_lines(cv::Mat& mask, double size) {
    // The bars of digits are shorter than 1.2 digits, and their neighbors' do not continue them.
    const LineRule rule{int(1.2 * size), int(0.12 * size) + 2,   0.12 * size + 1, 3 * size,
                        3 * size,        2 * int(0.1 * size) + 1};
    return Lines(mask, rule, rule).erase(mask, rule, rule);
}

}  // namespace knn::digit
