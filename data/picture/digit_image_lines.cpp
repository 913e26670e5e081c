/// Erases the lines of ruled and squared paper and of tables.

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

/// What counts as a horizontal line; lengths in pixels.
struct LineRule {
    int piece;         ///< length of straight ink that is a piece of a line
    int thick;         ///< ink higher than this is a stroke that crosses the line
    double thickness;  ///< most of a line, on average
    double few, many;  ///< least width of a line; `many` if there are at least four as wide as that
    int bridge;        ///< height of the gaps to close in strokes where a line was
};

/// Thin and nearly straight horizontal lines.
cv::Mat lines_in(const cv::Mat& mask, const LineRule& rule) {
    cv::Mat runs, thick, joined, labels, stats, centers;
    cv::morphologyEx(mask, runs, cv::MORPH_OPEN, cv::Mat::ones(1, rule.piece, CV_8U));
    // A digit's bar is thicker than a line; a shadow edge across the lines would connect them all.
    cv::morphologyEx(mask, thick, cv::MORPH_OPEN, cv::Mat::ones(rule.thick, 1, CV_8U));
    runs &= ~thick;
    // Slanted lines are steps; noise leaves gaps.
    cv::dilate(runs, joined, cv::Mat::ones(3, rule.piece / 2 | 1, CV_8U));
    const int count = cv::connectedComponentsWithStats(joined, labels, stats, centers);
    const auto ink_of = [&](int i, const cv::Rect& box) {
        cv::Mat own = (labels(box) == i) & runs(box);
        return own;
    };
    std::vector<int> few, many;
    for (int i = 1; i < count; ++i) {
        const cv::Rect box(stats.at<int>(i, 0), stats.at<int>(i, 1), stats.at<int>(i, 2),
                           stats.at<int>(i, 3));
        if (box.width < rule.many) continue;
        if (double(cv::countNonZero(ink_of(i, box))) / box.width > rule.thickness) continue;
        if (box.width >= rule.few) few.push_back(i);
        many.push_back(i);
    }
    cv::Mat lines = cv::Mat::zeros(mask.size(), CV_8U);
    // No digit has more than three bars.
    for (const int i : many.size() >= 4 ? many : few) {
        const cv::Rect box(stats.at<int>(i, 0), stats.at<int>(i, 1), stats.at<int>(i, 2),
                           stats.at<int>(i, 3));
        lines(box).setTo(255, ink_of(i, box));
    }
    return lines;
}

/// Erases horizontal lines except where a stroke crosses them; returns the erased pixels.
cv::Mat erase(cv::Mat& mask, const LineRule& rule) {
    const cv::Mat found = lines_in(mask, rule);
    if (cv::countNonZero(found) == 0) return found;
    cv::Mat lines, bridged;
    cv::dilate(found, lines, cv::Mat::ones(3, 1, CV_8U));
    const cv::Mat without = mask & ~lines;
    // Reconnects what remains above and below a line.
    cv::morphologyEx(without, bridged, cv::MORPH_CLOSE, cv::Mat::ones(rule.bridge, 1, CV_8U));
    mask = without | (bridged & lines & mask);
    return found;
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
    cv::Mat lines = erase(mask, rule_of_picture(mask.size()));
    cv::Mat turned = mask.t();
    lines |= erase(turned, rule_of_picture(turned.size())).t();
    mask = turned.t();
    return lines;
}

cv::Mat erase_page_lines(cv::Mat& mask, double size) {
    // The bars of digits are shorter than 1.2 digits, and their neighbors' do not continue them.
    const LineRule rule{int(1.2 * size), int(0.12 * size) + 2,   0.12 * size + 1, 3 * size,
                        3 * size,        2 * int(0.1 * size) + 1};
    cv::Mat lines = erase(mask, rule);
    cv::Mat turned = mask.t();
    lines |= erase(turned, rule).t();
    mask = turned.t();
    return lines;
}

}  // namespace knn::digit
