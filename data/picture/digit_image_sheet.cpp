/// Finds the sheet of paper in a picture that shows what lies around it, too, and leaves that out.

#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "data/file/transfer.h"
#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

constexpr double sheet_side = 250;                       ///< of the reduced picture, pixels
constexpr int sheet_margin = 2;                          ///< of these, along the edge, which is blurred
constexpr double least_sheet = 0.05, most_sheet = 0.97;  ///< of the picture
constexpr double least_full = 0.94;         ///< of the convex hull, and of the hull's few corners
constexpr double least_rectangular = 0.96;  ///< of the smallest rectangle; an ellipse has 0.79
constexpr std::size_t most_corners = 6;     ///< of a sheet that the picture's border cuts
constexpr double most_ink_of_sheet = 0.25;
constexpr double least_around = 0.8;    ///< of the surroundings that are of the other brightness
constexpr double faintest_edge = 0.88;  ///< of the light; more is uneven light
constexpr double darkest_shadow = 0.5;  ///< of the light
constexpr double least_step = 0.4;      ///< of the difference in light, within twice the margin
constexpr int widest_pen = 15;          ///< pixels of the reduced picture
constexpr double rougher = 3,
                 least_roughness = 0.005;    ///< of what paper does not lie on; of paper, of the light
constexpr double faintest_stroke = 0.15;     ///< of the light
constexpr double most_strokes_around = 0.1;  ///< of those on the sheet

using Outline = std::vector<cv::Point>;

cv::Mat margin_shape() {
    return cv::Mat::ones(2 * sheet_margin + 1, 2 * sheet_margin + 1, CV_8U);
}

cv::Mat filled(const Outline& outline, cv::Size size) {
    cv::Mat mask = cv::Mat::zeros(size, CV_8U);
    cv::fillConvexPoly(mask, outline, 255);
    return mask;
}

/// The convex outline of the largest part of `mask`, if that is a sheet; else empty.
Outline sheet_in(const cv::Mat& mask) {
    std::vector<Outline> outlines;
    cv::findContours(mask, outlines, cv::RETR_EXTERNAL, cv::CHAIN_APPROX_NONE);
    const auto area = [](const Outline& outline) { return cv::contourArea(outline); };
    const auto biggest = std::ranges::max_element(outlines, {}, area);
    if (biggest == outlines.end()) return {};
    Outline hull, corners;
    cv::convexHull(*biggest, hull);
    const double whole = area(hull), all = double(mask.total());
    if (whole < least_sheet * all || whole > most_sheet * all || area(*biggest) < least_full * whole)
        return {};
    cv::approxPolyDP(hull, corners, 0.02 * cv::arcLength(hull, true), true);
    const bool few = corners.size() <= most_corners && area(corners) >= least_full * whole;
    // Corners may be rounded; those of a 0 are no corners at all.
    if (!few && whole < least_rectangular * cv::minAreaRect(hull).size.area()) return {};
    const cv::Mat inside = filled(hull, mask.size());
    const double of_sheet = cv::mean(mask, inside)[0] / 255, around = 1 - cv::mean(mask, ~inside)[0] / 255;
    return of_sheet >= 1 - most_ink_of_sheet && around >= least_around ? hull : Outline();
}

/// Of `values` (CV_32F) where `mask` is set.
double median_in(const cv::Mat& values, const cv::Mat& mask) {
    std::vector<float> some;
    for (int y = 0; y < values.rows; ++y)
        for (int x = 0; x < values.cols; ++x)
            if (mask.at<std::uint8_t>(y, x) != 0) some.push_back(values.at<float>(y, x));
    return some.empty() ? 0 : median_of(std::move(some));
}

/// Whether the edge of the `whole` may be that of a shadow on a page: it is faint or soft, or the darker side is not darker than
/// shadows are, both are about as smooth, and there are strokes on both. A dark whole may also be a thing on a page with strokes.
bool may_be_shadow(const cv::Mat& small, const cv::Mat& paper, const cv::Mat& inner, const cv::Mat& whole) {
    const auto mean = [&](const cv::Mat& of) { return cv::mean(small, of)[0]; };
    cv::Mat wide;
    cv::dilate(whole, wide, margin_shape());
    const double on = mean(paper), around = mean(~whole), step = mean(whole & ~inner) - mean(wide & ~whole);
    const double darker = std::min(on, around), lighter = std::max(on, around);
    if (darker >= faintest_edge * lighter || step / (on - around) < least_step) return true;
    if (darker < darkest_shadow * lighter && on > around) return false;
    cv::Mat filled_up, erased;
    const cv::Mat pen = cv::Mat::ones(widest_pen, widest_pen, CV_8U);
    cv::morphologyEx(small, filled_up, cv::MORPH_CLOSE, pen);
    cv::morphologyEx(small, erased, cv::MORPH_OPEN, pen);
    cv::Mat rough;
    cv::divide(cv::max(cv::Mat(filled_up - small), cv::Mat(small - erased)), cv::max(filled_up, 1), rough, 1,
               CV_32F);
    if (median_in(rough, ~wide) > rougher * std::max(median_in(rough, inner), least_roughness)) return false;
    const cv::Mat strokes = rough > faintest_stroke;
    return cv::countNonZero(strokes & ~wide) > most_strokes_around * cv::countNonZero(strokes & inner);
}

/// `values`, those outside of `inside` being that of the nearest pixel in it.
cv::Mat extended(const cv::Mat& values, const cv::Mat& inside) {
    cv::Mat distance, nearest, result = values.clone();
    cv::distanceTransform(~inside, distance, nearest, cv::DIST_L2, 5, cv::DIST_LABEL_PIXEL);
    std::vector<std::uint8_t> value_of(values.total() + 1);
    for (int y = 0; y < values.rows; ++y)
        for (int x = 0; x < values.cols; ++x)
            if (inside.at<std::uint8_t>(y, x) != 0)
                value_of[std::size_t(nearest.at<int>(y, x))] = values.at<std::uint8_t>(y, x);
    for (int y = 0; y < values.rows; ++y)
        for (int x = 0; x < values.cols; ++x)
            result.at<std::uint8_t>(y, x) = value_of[std::size_t(nearest.at<int>(y, x))];
    return result;
}

/// The mean brightness of the `paper` near each pixel.
cv::Mat light_of(const cv::Mat& small, const cv::Mat& paper) {
    cv::Mat sum, weight, values = cv::Mat::zeros(small.size(), CV_32F), light;
    small.convertTo(sum, CV_32F);
    sum.copyTo(values, paper);
    paper.convertTo(weight, CV_32F, 1 / 255.0);
    cv::GaussianBlur(values, sum, {}, 3);
    cv::GaussianBlur(weight, weight, {}, 3);
    cv::divide(sum, cv::max(weight, 1e-3), light, 1, CV_8U);
    return light;
}

}  // namespace

Sheet find_sheet(const cv::Mat& gray) {
    throw_if_stopped();
    const double scale = std::min(1.0, sheet_side / std::max(gray.rows, gray.cols));
    cv::Mat small, light;
    cv::medianBlur(scaled(gray, scale), small, 3);
    cv::threshold(small, light, 0, 255, cv::THRESH_BINARY | cv::THRESH_OTSU);
    for (const cv::Mat& mask : {light, cv::Mat(~light)}) {
        const Outline outline = sheet_in(mask);
        if (outline.empty()) continue;
        const cv::Mat whole = filled(outline, small.size());
        cv::Mat inner, inside;
        cv::erode(whole, inner, margin_shape());
        const cv::Mat paper = mask & inner;
        if (may_be_shadow(small, paper, inner, whole)) continue;
        cv::resize(inner, inside, gray.size(), 0, 0, cv::INTER_LINEAR);
        inside = inside > 127;
        const cv::Rect box = cv::boundingRect(inside);
        if (box.empty()) continue;
        Sheet sheet;
        cv::resize(extended(light_of(small, paper), paper), sheet.gray, gray.size(), 0, 0, cv::INTER_LINEAR);
        gray.copyTo(sheet.gray, inside);
        sheet.gray = sheet.gray(box).clone();
        sheet.corner = box.tl();
        return sheet;
    }
    return {};
}

}  // namespace knn::digit
