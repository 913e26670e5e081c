/// A digit's ink to 28×28 as MNIST was made (LeCun et al. 1998, "MNIST database": 20×20 box, aspect kept,
/// anti-aliased, center of mass in the middle of 28×28).

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "data/digit_image_steps.h"

namespace knn::digit {

namespace {

constexpr int side = DigitImage::side, inner = 20;

// Pen widths in pixels of the 20×20 box. MNIST's own lie between 1.7 and 4.3 for 98 % of its images; a pen
// outside of that is brought to the nearer bound.
constexpr double thinnest = 2.4, thickest = 4.4;

cv::Mat with_usual_pen(const cv::Mat& levels, const cv::Rect& box, double pen) {
    const double unit =
        double(std::max(box.width, box.height)) / inner;  // working pixels per pixel of the box
    const double change = std::clamp(pen, thinnest * unit, thickest * unit) - pen;
    const int width = int(std::lround(std::abs(change)));
    if (width < 1) return levels;
    cv::Mat result;
    const cv::Mat shape = cv::getStructuringElement(cv::MORPH_ELLIPSE, cv::Size(width + 1, width + 1));
    if (change > 0)
        cv::dilate(levels, result, shape);
    else
        cv::erode(levels, result, shape);
    return result;
}

}  // namespace

cv::Rect box_of(const cv::Mat& levels) {
    return cv::boundingRect(levels > 0.5);
}

cv::Mat ink_of(const Ink& ink, const Parts& parts, const Group& group) {
    const cv::Mat& labels = parts.labels;
    const int reach = 2 + int(group.pen / 3);  // the soft edge of a blurred stroke
    const int room = reach + 2 + int(0.15 * std::max(group.box.width, group.box.height));
    const cv::Rect wide = group.box + cv::Size(2 * room, 2 * room) - cv::Point(room, room);
    const cv::Rect seen = wide & cv::Rect({}, labels.size());
    cv::Mat levels = cv::Mat::zeros(wide.size(), CV_32F);
    for (const Part& part : group.parts) {
        cv::Mat own = labels(seen) == part.label, near;
        cv::dilate(own, near,
                   cv::getStructuringElement(cv::MORPH_ELLIPSE, cv::Size(2 * reach + 1, 2 * reach + 1)));
        // Other parts' ink is not this one's edge.
        near &= (labels(seen) == part.label) | (labels(seen) == 0);
        cv::Mat soft = (ink.amount(seen) / part.peak - 0.15) / 0.7;
        soft = cv::min(cv::max(soft, 0.0), 1.0);
        cv::Mat target = levels(seen - wide.tl());
        cv::max(target, soft, soft);
        soft.copyTo(target, near);
    }
    return levels;
}

cv::Mat placed(const cv::Mat& levels, double pen) {
    cv::Rect box = box_of(levels);
    if (box.empty()) return cv::Mat::zeros(side, side, CV_8U);
    const cv::Mat usual = with_usual_pen(levels, box, pen);
    if (!box_of(usual).empty()) box = box_of(usual);
    const double scale = double(inner) / std::max(box.width, box.height);
    const cv::Size size(std::max(1, int(std::lround(box.width * scale))),
                        std::max(1, int(std::lround(box.height * scale))));
    cv::Mat small;
    cv::resize(usual(box), small, size, 0, 0, scale < 1 ? cv::INTER_AREA : cv::INTER_LINEAR);
    double most = 0;
    cv::minMaxLoc(small, nullptr, &most);
    cv::Mat bytes;
    small.convertTo(bytes, CV_8U, most > 0 ? 255 / most : 0);

    const cv::Moments moments = cv::moments(bytes);
    const auto shift = [](double center, int room) {
        return std::clamp(int(std::lround(side / 2 - center)), 0, room);
    };
    const double mass = std::max(moments.m00, 1.0);
    const cv::Point corner(shift(moments.m10 / mass, side - size.width),
                           shift(moments.m01 / mass, side - size.height));
    cv::Mat result = cv::Mat::zeros(side, side, CV_8U);
    bytes.copyTo(result(cv::Rect(corner, size)));
    return result;
}

}  // namespace knn::digit
