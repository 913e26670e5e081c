/// Finds the size of a page's digits and the slope of its lines, and brings the page to a working size by them.

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

constexpr double first_side = 1200;  // pixels of the longer side while the size of the digits is unknown
constexpr double smallest_side = 160;
constexpr double digit_side = 48;  // working pixels of a digit: 20 are needed in the end
constexpr double most_pixels = 16e6;
constexpr double most_enlarged = 4;
constexpr double most_skew = 12, skew_step = 0.25;  // degrees

cv::Mat resized(const cv::Mat& gray, double scale) {
    return scale == 1 ? gray.clone() : scaled(gray, scale, scale < 1 ? cv::INTER_AREA : cv::INTER_CUBIC);
}

/// Whether the ink is lighter than the paper, by three widths, as the size of the digits is unknown.
bool has_light_ink(const cv::Mat& work) {
    const cv::Mat small = resized(work, std::min(1.0, 600.0 / std::max(work.rows, work.cols)));
    double vote = 0;
    for (const int width : {31, 91, 181})
        vote += vote_of_minority(small, std::min({width / 2, small.rows - 1, small.cols - 1}));
    return vote > 0;
}

/// The height that half of the ink of the parts reaches; 0 if there is none. Without the lines of a table,
/// which hold other parts, what is no stroke, and, with `inner`, what touches the picture's border.
double usual_height(const std::vector<Part>& parts, cv::Size size, bool inner = true) {
    std::vector<Part> strokes;
    for (const Part& part : parts) {
        if (is_border(part, size) || !is_stroke(part) || (inner && part.edges > 0)) continue;
        const auto held = std::count_if(parts.begin(), parts.end(), [&](const Part& other) {
            return other.mass < part.mass && (other.box & part.box) == other.box;
        });
        if (held < 4) strokes.push_back(part);
    }
    if (strokes.empty()) return inner ? usual_height(parts, size, false) : 0;
    return reached_by_half(strokes, [](const Part& part) { return double(part.box.height); });
}

/// The slope of long horizontal lines, degrees, positive if they fall to the right; 0 if there are none.
/// Along its lines, the rows of a picture have either much ink or none.
double skew_of(const cv::Mat& mask) {
    std::vector<cv::Point> ink;
    cv::findNonZero(mask, ink);
    double best = 0, most = 0, best_line = 0;
    std::vector<int> counts;
    for (double angle = -most_skew; angle <= most_skew; angle += skew_step) {
        const double slope = std::tan(angle * CV_PI / 180), least = std::min(0.0, -slope * mask.cols);
        // At least three, of which the third largest is asked for.
        counts.assign(std::size_t((mask.rows + std::abs(slope) * mask.cols) / 2) + 3, 0);
        for (const cv::Point& at : ink)
            ++counts[std::size_t((at.y - slope * at.x - least) / 2)];
        double squares = 0;
        for (const int count : counts)
            squares += double(count) * count;
        if (squares <= most) continue;
        most = squares, best = angle;
        std::nth_element(counts.begin(), counts.begin() + 2, counts.end(), std::greater<>());
        best_line = counts[2];
    }
    return best_line > 0.4 * mask.cols && std::abs(best) > 1.5 * skew_step ? best : 0;
}

/// The page turned so that lines with this slope become horizontal; `to_picture` is turned back.
cv::Mat turned(const cv::Mat& work, double degrees, cv::Matx23d& to_picture) {
    const cv::Point2f middle(float(work.cols) / 2, float(work.rows) / 2);
    cv::Matx23d turn = cv::getRotationMatrix2D(middle, degrees, 1);
    const cv::Rect2f whole = cv::RotatedRect(middle, work.size(), float(degrees)).boundingRect2f();
    turn(0, 2) += whole.width / 2 - middle.x;
    turn(1, 2) += whole.height / 2 - middle.y;
    cv::Mat result;
    cv::warpAffine(work, result, turn, cv::Size(int(whole.width), int(whole.height)), cv::INTER_LINEAR,
                   cv::BORDER_REPLICATE);
    cv::Matx23d back;
    cv::invertAffineTransform(turn, back);
    const cv::Matx33d down(to_picture(0, 0), 0, to_picture(0, 2), 0, to_picture(1, 1), to_picture(1, 2), 0, 0,
                           1);
    const cv::Matx33d before(back(0, 0), back(0, 1), back(0, 2), back(1, 0), back(1, 1), back(1, 2), 0, 0, 1);
    to_picture = (down * before).get_minor<2, 3>(0, 0);
    return result;
}

}  // namespace

Page find_page(const cv::Mat& gray) {
    const double side = std::max(gray.rows, gray.cols);
    double scale = side > first_side      ? first_side / side
                   : side < smallest_side ? std::ceil(smallest_side / side)
                                          : 1;
    cv::Mat work = resized(gray, scale);
    const bool light = has_light_ink(work);
    const double width = 0.2 * std::min(work.rows, work.cols);
    Page page;
    page.ink = ink_of_paper(work, scale, light, width, std::min(25.0, width));
    Parts parts = find_parts(page.ink);
    page.size = usual_height(parts.parts, work.size());
    const double skew = skew_of(page.ink.amount > std::max(0.1, 4.5 * page.ink.noise));
    // Lines that touch the digits, and things on the desk, are told apart better once the size is known.
    for (int pass = 0; pass < 2 && page.size > 0; ++pass) {
        const double before = scale;
        scale = std::clamp(scale * digit_side / page.size, 0.02, std::max(most_enlarged, scale));
        scale = std::min(scale, std::sqrt(most_pixels / double(gray.total())));
        work = resized(gray, scale);
        cv::Matx23d to_picture{1 / scale, 0, 0, 0, 1 / scale, 0};
        if (skew != 0) work = turned(work, skew, to_picture);
        const double size = page.size * scale / before;
        page.ink = ink_of_paper(work, scale, light, 0.8 * size, std::min(12.0, 0.8 * size));
        page.ink.to_picture = to_picture;
        parts = find_parts(page.ink, size);
        page.size = usual_height(parts.parts, work.size());
        if (page.size > 0.75 * size && page.size < 1.33 * size) break;
    }
    page.parts = std::move(parts);
    return page;
}

}  // namespace knn::digit
