/// Converts a digit's ink to 28×28 as MNIST was made (LeCun et al. 1998, "MNIST database": 20×20 box, aspect
/// preserved, anti-aliased, center of mass in the middle of 28×28). Cuts strokes that may be several digits that touch.

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "data/file/transfer.h"
#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

constexpr int side = DigitImage::side, inner = 20;

// Stroke widths in pixels of the 20×20 box; the median of MNIST is 2.76. Widths outside of this range are
// adjusted to the nearer end. docs/classify.md has the figures behind the choice.
constexpr double thinnest = 2.8, thickest = 3.4;
constexpr double finest = 12;           // pixels per pixel of the 20×20 box in which the pen is changed
constexpr std::size_t most_parts = 16;  // of what may be a digit

}  // namespace

cv::Rect box_of(const cv::Mat& levels) {
    return cv::boundingRect(levels > 0.5);
}

Strokes strokes_of(const Ink& ink, const Parts& parts, const Group& group) {
    const cv::Mat& labels = parts.labels;
    const int reach = 2 + int(group.pen / 3);  // the soft edge of a blurred stroke
    const int margin = reach + 2 + int(0.15 * std::max(group.box.width, group.box.height));
    const cv::Rect wide = group.box + cv::Size(2 * margin, 2 * margin) - cv::Point(margin, margin);
    const cv::Rect whole = wide & cv::Rect({}, labels.size());
    cv::Mat levels = cv::Mat::zeros(wide.size(), CV_32F);
    for (const Part& part : group.parts) {
        throw_if_stopped();
        // Parts of a digit are seen whole. So many are none, and would take time by their square.
        const cv::Rect beside = part.box + cv::Size(2 * reach, 2 * reach) - cv::Point(reach, reach);
        const cv::Rect seen = group.parts.size() > most_parts ? beside & whole : whole;
        cv::Mat own = labels(seen) == part.label, near;
        cv::dilate(own, near,
                   cv::getStructuringElement(cv::MORPH_ELLIPSE, cv::Size(2 * reach + 1, 2 * reach + 1)));
        // Excludes the ink of other parts.
        near &= (labels(seen) == part.label) | (labels(seen) == 0);
        cv::Mat mine = cv::Mat::zeros(seen.size(), CV_32F);
        ink.amount(seen).copyTo(mine, own);
        cv::Mat soft = (ink.amount(seen) / local_peak(mine, part.box, part.peak) - 0.15) / 0.7;
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

namespace {

// In units of the usual height of a page's digits.
constexpr double widest = 0.65;  // of what is surely one digit
constexpr double most_cut = 12;  // of what may be cut: four digits at most are found in it
constexpr double most_ink = 1;   // that a seam crosses, in widths of the pen

/// The path from the top to the bottom with the least ink on it, between two columns: at most one column
/// aside per row, and leaning costs a little. Its column in each row.
std::vector<int> seam_in(const cv::Mat& levels, int from, int to, double& ink) {
    constexpr float lean = 0.02F;
    const int width = to - from;
    cv::Mat cost(levels.rows, width, CV_32F);
    for (int y = 0; y < levels.rows; ++y)
        for (int x = 0; x < width; ++x) {
            float before = 0;
            if (y > 0) {
                before = cost.at<float>(y - 1, x);
                if (x > 0) before = std::min(before, cost.at<float>(y - 1, x - 1) + lean);
                if (x + 1 < width) before = std::min(before, cost.at<float>(y - 1, x + 1) + lean);
            }
            cost.at<float>(y, x) = before + levels.at<float>(y, from + x);
        }
    std::vector<int> seam(std::size_t(levels.rows), 0);
    const float* last = cost.ptr<float>(levels.rows - 1);
    int x = int(std::min_element(last, last + width) - last);
    ink = last[x];
    for (int y = levels.rows - 1; y >= 0; --y) {
        seam[std::size_t(y)] = from + x;
        if (y == 0) break;
        const float* above = cost.ptr<float>(y - 1);
        const auto cheaper = [&](int other) {
            return other >= 0 && other < width && above[other] + lean < above[x];
        };
        if (cheaper(x - 1) && (!cheaper(x + 1) || above[x - 1] <= above[x + 1]))
            --x;
        else if (cheaper(x + 1))
            ++x;
    }
    return seam;
}

/// The ink between two seams.
Strokes piece_of(const Strokes& whole, const std::vector<int>& left, const std::vector<int>& right) {
    Strokes piece{cv::Mat::zeros(whole.levels.size(), CV_32F), whole.corner, whole.pen};
    for (int y = 0; y < whole.levels.rows; ++y) {
        const std::size_t row = std::size_t(y);
        if (right[row] > left[row])
            whole.levels(cv::Range(y, y + 1), cv::Range(left[row], right[row]))
                .copyTo(piece.levels(cv::Range(y, y + 1), cv::Range(left[row], right[row])));
    }
    return piece;
}

/// Cuts near each of `places`, which ascend; none if a piece has hardly any ink.
std::vector<Strokes> cut_at(const Strokes& whole, const std::vector<double>& places, double reach,
                            double usual) {
    const std::size_t rows = std::size_t(whole.levels.rows);
    std::vector<std::vector<int>> seams = {std::vector<int>(rows, 0)};
    for (const double place : places) {
        double ink = 0;
        seams.push_back(seam_in(whole.levels, std::max(0, int(place - reach)),
                                std::min(whole.levels.cols, int(place + reach) + 1), ink));
        if (ink > most_ink * whole.pen) return {};
    }
    seams.emplace_back(rows, whole.levels.cols);
    std::vector<Strokes> pieces;
    for (std::size_t i = 0; i + 1 < seams.size(); ++i) {
        pieces.push_back(piece_of(whole, seams[i], seams[i + 1]));
        if (size_of(box_of(pieces.back().levels)) < 0.5 * usual) return {};
    }
    return pieces;
}

}  // namespace

std::vector<std::vector<Strokes>> cuts_of(const Strokes& strokes, double usual) {
    const cv::Rect box = box_of(strokes.levels);
    if (box.width < widest * usual || box.width > most_cut * usual) return {};
    std::vector<std::vector<Strokes>> cuts;
    const auto add = [&](const std::vector<double>& shares, double reach) {
        std::vector<double> places;
        for (const double share : shares)
            places.push_back(box.x + share * box.width);
        if (auto pieces = cut_at(strokes, places, reach * box.width, usual); !pieces.empty())
            cuts.push_back(std::move(pieces));
    };
    if (box.width < 2.2 * usual) add({0.5}, 0.2);
    if (box.width > 1.5 * usual) add({1 / 3.0, 2 / 3.0}, 0.12);
    if (box.width > 2.3 * usual) add({0.25, 0.5, 0.75}, 0.1);
    return cuts;
}

}  // namespace knn::digit
