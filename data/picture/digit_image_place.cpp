/// Converts a digit's ink to 28×28 as MNIST was made (LeCun et al. 1998, "MNIST database": 20×20 box, aspect
/// preserved, anti-aliased, center of mass in the middle of 28×28).

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

constexpr int side = DigitImage::side, inner = 20;

// Stroke widths in pixels of the 20×20 box; the median of MNIST is 2.76. Widths outside of this range are
// adjusted to the nearer end. docs/classify.md has the figures behind the choice.
constexpr double thinnest = 2.8, thickest = 3.4;
constexpr double finest = 12;  // pixels per pixel of the 20×20 box in which the pen is changed

}  // namespace

cv::Rect box_of(const cv::Mat& levels) {
    return cv::boundingRect(levels > 0.5);
}

Strokes strokes_of(const Ink& ink, const Parts& parts, const Group& group) {
    const cv::Mat& labels = parts.labels;
    const int reach = 2 + int(group.pen / 3);  // the soft edge of a blurred stroke
    const int margin = reach + 2 + int(0.15 * std::max(group.box.width, group.box.height));
    const cv::Rect wide = group.box + cv::Size(2 * margin, 2 * margin) - cv::Point(margin, margin);
    const cv::Rect seen = wide & cv::Rect({}, labels.size());
    cv::Mat levels = cv::Mat::zeros(wide.size(), CV_32F);
    for (const Part& part : group.parts) {
        cv::Mat own = labels(seen) == part.label, near;
        cv::dilate(own, near,
                   cv::getStructuringElement(cv::MORPH_ELLIPSE, cv::Size(2 * reach + 1, 2 * reach + 1)));
        // Excludes the ink of other parts.
        near &= (labels(seen) == part.label) | (labels(seen) == 0);
        cv::Mat mine = cv::Mat::zeros(seen.size(), CV_32F);
        ink.amount(seen).copyTo(mine, own);
        const cv::Mat peaks = cv::min(
            local_peak(mine, 0.12 * std::max(part.box.width, part.box.height), 0.35 * part.peak), part.peak);
        cv::Mat soft = (ink.amount(seen) / peaks - 0.15) / 0.7;
        soft = cv::min(cv::max(soft, 0.0), 1.0);
        cv::Mat target = levels(seen - wide.tl());
        cv::max(target, soft, soft);
        soft.copyTo(target, near);
    }
    return {levels, wide.tl(), group.pen};
}

cv::Mat with_usual_pen(const cv::Mat& levels, double pen) {
    const cv::Rect box = box_of(levels);
    if (box.empty()) return levels;
    // Working pixels per pixel of the 20×20 box.
    const double unit = double(std::max(box.width, box.height)) / inner;
    if (unit > finest) {
        cv::Mat reduced;
        cv::resize(levels, reduced, {}, finest / unit, finest / unit, cv::INTER_AREA);
        return with_usual_pen(reduced, pen * finest / unit);
    }
    const double change = std::clamp(pen, thinnest * unit, thickest * unit) - pen;
    const int width = int(std::lround(std::abs(change)));
    if (width < 1) return levels;
    cv::Mat result;
    const cv::Mat shape = cv::getStructuringElement(cv::MORPH_ELLIPSE, cv::Size(width + 1, width + 1));
    if (change > 0)
        cv::dilate(levels, result, shape);
    else
        cv::erode(levels, result, shape);
    return box_of(result).empty() ? levels : result;
}

cv::Mat placed(const cv::Mat& levels, int longest) {
    const cv::Rect box = box_of(levels);
    if (box.empty()) return cv::Mat::zeros(side, side, CV_8U);
    const double scale = double(longest) / std::max(box.width, box.height);
    const cv::Size size(std::max(1, int(std::lround(box.width * scale))),
                        std::max(1, int(std::lround(box.height * scale))));
    cv::Mat small;
    cv::resize(levels(box), small, size, 0, 0, scale < 1 ? cv::INTER_AREA : cv::INTER_LINEAR);
    double most = 0;
    cv::minMaxLoc(small, nullptr, &most);
    cv::Mat bytes;
    small.convertTo(bytes, CV_8U, most > 0 ? 255 / most : 0);

    const cv::Moments moments = cv::moments(bytes);
    const auto shift = [](double center, int margin) {
        return std::clamp(int(std::lround(side / 2 - center)), 0, margin);
    };
    const double mass = std::max(moments.m00, 1.0);
    const cv::Point corner(shift(moments.m10 / mass, side - size.width),
                           shift(moments.m01 / mass, side - size.height));
    cv::Mat result = cv::Mat::zeros(side, side, CV_8U);
    bytes.copyTo(result(cv::Rect(corner, size)));
    return result;
}

}  // namespace knn::digit
