/// The ink of a picture of one digit, or of a page: working size, polarity, illumination; of a page also the size of its
/// digits and the slope of its lines.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <opencv2/imgproc.hpp>

#include "data/file/transfer.h"
#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

// A digit that covers 1 % of a picture is still 100 pixels high; a small one is enlarged to give strokes a
// shape.
constexpr double max_side = 1000, min_side = 160;
constexpr double least_light = 0.35;  // of paper, of the mean brightness
constexpr int coarse_side = 125;      // for illumination, which changes slowly

/// At least a pixel.
cv::Size scaled_size(const cv::Mat& mat, double scale) {
    return {std::max(1, int(std::lround(mat.cols * scale))), std::max(1, int(std::lround(mat.rows * scale)))};
}

int method_for(double scale) {
    return scale < 1 ? cv::INTER_AREA : cv::INTER_CUBIC;
}

cv::Mat resized(const cv::Mat& mat, double scale) {
    cv::Mat result;
    cv::resize(mat, result, scaled_size(mat, scale), 0, 0, method_for(scale));
    return result;
}

/// The scale at which the longer side has min_side to `most` pixels.
double working_scale(const cv::Mat& gray, double most) {
    const double side = std::max(gray.rows, gray.cols);
    return side > most ? most / side : side < min_side ? std::ceil(min_side / side) : 1;
}

/// (b − a)³ of each pixel.
cv::Mat cubed_difference(const cv::Mat& b, const cv::Mat& a) {
    cv::Mat difference;
    cv::subtract(b, a, difference, cv::noArray(), CV_32F);
    return difference.mul(difference).mul(difference);
}

/// The part of `padded` that has `border` pixels around it.
cv::Mat inner_part(const cv::Mat& padded, int border) {
    return padded(cv::Rect(border, border, padded.cols - 2 * border, padded.rows - 2 * border));
}

/// Ink is thin: at each of several widths a closing fills dark strokes thinner than it, an opening removes
/// light ones. Shadow edges, however hard, change little under either. −7 (dark ink) to 7.
double vote_of_widths(const cv::Mat& small) {
    constexpr std::array widths = {3, 5, 9, 15, 25, 41, 61};  // of 125 pixels
    std::array<double, widths.size()> dark{}, light{};
    double most = 0, votes = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const int border = widths[i] / 2 + 1;
        const cv::Mat shape = cv::Mat::ones(widths[i], widths[i], CV_8U);
        cv::Mat padded, filled, erased;
        cv::copyMakeBorder(small, padded, border, border, border, border, cv::BORDER_REPLICATE);
        cv::morphologyEx(padded, filled, cv::MORPH_CLOSE, shape);
        cv::morphologyEx(padded, erased, cv::MORPH_OPEN, shape);
        dark[i] = cv::sum(cubed_difference(inner_part(filled, border), small))[0];
        light[i] = cv::sum(cubed_difference(small, inner_part(erased, border)))[0];
        most = std::max(most, dark[i] + light[i]);
    }
    for (std::size_t i = 0; i < widths.size(); ++i)
        votes += (light[i] - dark[i]) / (light[i] + dark[i] + 0.01 * most + 1);
    return votes;
}

/// Paper brightness without the ink: a closing wider than the pen, at reduced resolution. `width` pixels of
/// `gray` become `steps`.
cv::Mat paper_of(const cv::Mat& gray, double width, double steps) {
    cv::Mat small = resized(gray, std::min(1.0, steps / width)), paper;
    cv::medianBlur(small, small, 3);
    const int side = std::max(3, int(std::min(steps, width)) | 1);
    cv::copyMakeBorder(small, small, side, side, side, side, cv::BORDER_REPLICATE);
    cv::morphologyEx(small, paper, cv::MORPH_CLOSE,
                     cv::getStructuringElement(cv::MORPH_ELLIPSE, cv::Size(side, side)));
    paper = inner_part(paper, side).clone();
    cv::GaussianBlur(paper, paper, cv::Size(), 1.5);
    cv::Mat result;
    cv::resize(paper, result, gray.size(), 0, 0, cv::INTER_LINEAR);
    return result;
}

/// From the median difference of pixels two apart, which few strokes touch.
double noise_of(const cv::Mat& amount) {
    if (amount.cols < 3) return 0;
    cv::Mat difference = cv::abs(amount.colRange(2, amount.cols) - amount.colRange(0, amount.cols - 2));
    std::vector<float> values;
    const std::size_t step = std::max<std::size_t>(1, difference.total() / 20000);
    for (std::size_t i = 0; i < difference.total(); i += step)
        values.push_back(difference.at<float>(int(i / std::size_t(difference.cols)),
                                              int(i % std::size_t(difference.cols))));
    return median_of(std::move(values)) / 0.6745 / std::sqrt(2.0);
}

/// The polarity alone by the whole picture, whose ink is a minority of pixels far from their surroundings: the third moment
/// of the difference to the median `reach` pixels around has its sign. −1 (dark ink) to 1 (light ink).
double vote_of_minority(const cv::Mat& small, int reach) {
    cv::Mat ground, padded;
    cv::copyMakeBorder(small, padded, reach, reach, reach, reach, cv::BORDER_REFLECT);
    cv::medianBlur(padded, ground, 2 * reach + 1);
    const cv::Mat cubes = cubed_difference(small, inner_part(ground, reach));
    return cv::sum(cubes)[0] / (cv::sum(cv::abs(cubes))[0] + 1);
}

/// Whether the ink is lighter than the paper, by the whole picture at reduced size. The weight was tuned on the kinds of pages in docs/classify.md, both polarities: either vote alone errs
/// several times as often.
bool is_light_ink(const cv::Mat& gray) {
    const double side = std::max(gray.rows, gray.cols);
    const cv::Mat small = resized(gray, std::min(1.0, coarse_side / side));
    cv::Mat smooth;
    cv::medianBlur(small, smooth, 3);
    return vote_of_widths(smooth) + 2 * vote_of_minority(small, std::max(small.rows, small.cols) / 3) > 0;
}

/// The ink of `work`, a picture at working size; `scale`: its pixels per pixel of the picture. The paper is a
/// closing `paper_width` pixels wide, which must be wider than the pen, at a size at which these are
/// `paper_steps` pixels.
Ink ink_of_paper(cv::Mat work, double scale, bool light, double paper_width, double paper_steps) {
    Ink ink;
    ink.to_picture = to_full_size(scale);
    ink.light = light;
    if (light) work = 255 - work;

    throw_if_stopped();
    ink.paper = paper_of(work, paper_width, paper_steps);
    throw_if_stopped();
    // In dark regions noise would become ink.
    const double darkest = std::max(24.0, least_light * cv::mean(ink.paper)[0]);
    ink.amount.create(work.size(), CV_32F);
    for_bands(work.rows, [&](const cv::Range& rows) {
        cv::Mat bright, ground, amount = ink.amount.rowRange(rows);
        work.rowRange(rows).convertTo(bright, CV_32F);
        ink.paper.rowRange(rows).convertTo(ground, CV_32F);
        cv::divide(ground - bright, cv::max(ground, darkest), amount);
    });
    const double raw_noise = noise_of(ink.amount);
    cv::Mat rough = raw_noise > 0.02 ? cv::Mat() : ink.amount.clone();  // values below 0 are noise, too
    for_bands(work.rows, [&](const cv::Range& rows) {
        cv::Mat amount = ink.amount.rowRange(rows);
        cv::min(cv::max(amount, 0.0), 1.0, amount);
    });
    if (raw_noise > 0.02) {
        cv::GaussianBlur(ink.amount, ink.amount, cv::Size(), std::min(0.8 + 8 * raw_noise, 2.0));
        rough = ink.amount;
    }
    throw_if_stopped();
    ink.noise = noise_of(rough);
    ink.evened.create(work.size(), CV_8U);
    for_bands(work.rows, [&](const cv::Range& rows) {
        cv::Mat evened = ink.evened.rowRange(rows);
        cv::Mat(255 * (1 - ink.amount.rowRange(rows))).convertTo(evened, CV_8U);
    });
    return ink;
}

constexpr double least_legible = 6;  // pixels of the picture: the height of its digits
constexpr double first_side = 1200;  // pixels of the longer side while the size of the digits is unknown
constexpr double most_enlarged = 4;
constexpr double most_skew = 12, skew_step = 0.25;  // degrees

constexpr double least_held =
    0.01;  // of the ink of lines; specks of enlarged pixels have 0.005 of their digit's

/// The height that half of the ink of the parts reaches; 0 if there is none. Without the lines of a table,
/// which hold other parts, what is no stroke, and, with `inner`, what touches the picture's border.
double usual_height(const std::vector<Part>& parts, cv::Size size, bool inner = true) {
    const auto left = [](const Part& part) { return part.box.x; };
    std::vector<Part> from_left = parts, strokes;
    std::ranges::sort(from_left, {}, left);
    for (const Part& part : parts) {
        throw_if_stopped();
        if (is_border(part, size) || !is_stroke(part) || (inner && (part.edges > 0 || part.of_table)))
            continue;
        int held = 0;
        double mass = 0;
        const auto holds = [&] { return held >= 4 && mass >= least_held * part.mass; };
        auto other = std::ranges::lower_bound(from_left, part.box.x, {}, left);
        for (; !holds() && other != from_left.end() && other->box.x < part.box.br().x; ++other)
            if (other->mass < part.mass && (other->box & part.box) == other->box) {
                ++held;
                mass += other->mass;
            }
        if (!holds()) strokes.push_back(part);
    }
    if (strokes.empty()) return inner ? usual_height(parts, size, false) : 0;
    erase_faint(strokes);
    return reached_by(strokes, 0.5, [](const Part& part) { return double(part.box.height); });
}

/// The slope of long horizontal lines, degrees, positive if they fall to the right; 0 if there are none.
/// Along its lines, the rows of a picture have either much ink or none.
double skew_of(const cv::Mat& mask) {
    std::vector<cv::Point> ink;
    cv::findNonZero(mask, ink);
    double best = 0, most = 0, best_line = 0;
    std::vector<int> counts;
    for (double angle = -most_skew; angle <= most_skew; angle += skew_step) {
        throw_if_stopped();
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
cv::Mat turned(const cv::Mat& work, double degrees, cv::Matx33d& to_picture) {
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
    to_picture = to_picture *
                 cv::Matx33d(back(0, 0), back(0, 1), back(0, 2), back(1, 0), back(1, 1), back(1, 2), 0, 0, 1);
    return result;
}

/// The ink of a page at `scale`; `size`: of its digits, working pixels.
Ink ink_of_digits(const cv::Mat& work, double scale, bool light, double size) {
    return ink_of_paper(work, scale, light, 0.8 * size, std::min(12.0, 0.8 * size));
}

}  // namespace

cv::Mat scaled(const cv::Mat& mat, double scale) {
    cv::Mat result;
    const bool vanishes = scale * std::min(mat.rows, mat.cols) < 1;
    cv::resize(mat, result, vanishes ? scaled_size(mat, scale) : cv::Size(), scale, scale, method_for(scale));
    return result;
}

Ink find_ink(const cv::Mat& gray) {
    const double scale = working_scale(gray, max_side);
    const cv::Mat work = resized(gray, scale);
    const double side = std::max(work.rows, work.cols), reduced = std::min(1.0, coarse_side / side);
    const double width = 0.3 * std::min(work.rows, work.cols);
    return ink_of_paper(work, scale, is_light_ink(work), width, width * reduced);
}

double scale_of_page(const cv::Mat& gray) {
    return working_scale(gray, first_side);
}

bool has_light_ink(const cv::Mat& work) {
    const cv::Mat small = scaled(work, std::min(1.0, 600.0 / std::max(work.rows, work.cols)));
    double vote = 0;
    for (const int width : {31, 91, 181})
        vote += vote_of_minority(small, std::min({width / 2, small.rows - 1, small.cols - 1}));
    return vote > 0;
}

Page find_page_of_size(const cv::Mat& work, bool light, const cv::Mat& where) {
    Page page;
    page.size = digit_side;
    page.ink = ink_of_digits(work, 1, light, digit_side);
    page.ink.amount.setTo(0, ~where);
    page.parts = find_parts(page.ink, digit_side);
    return page;
}

Page find_page(const cv::Mat& gray) {
    double scale = scale_of_page(gray);
    cv::Mat work = scaled(gray, scale);
    const bool light = has_light_ink(work);
    const double width = 0.2 * std::min(work.rows, work.cols);
    Page page;
    page.ink = ink_of_paper(work, scale, light, width, std::min(25.0, width));
    Parts parts = find_parts(page.ink);
    page.size = usual_height(parts.parts, page.ink.amount.size());
    const double skew = skew_of(page.ink.amount > std::max(0.1, 4.5 * page.ink.noise));
    // Lines that touch the digits, and things on the desk, are told apart better once the size is known.
    for (int pass = 0; pass < 2 && page.size > 0; ++pass) {
        const double before = scale;
        scale = std::clamp(scale * digit_side / page.size, 0.02, std::max(most_enlarged, scale));
        scale = std::min(scale, std::sqrt(most_pixels / double(gray.total())));
        work = scaled(gray, scale);
        cv::Matx33d to_picture = to_full_size(scale);
        if (skew != 0) work = turned(work, skew, to_picture);
        const double size = page.size * scale / before;
        page.ink = ink_of_digits(work, scale, light, size);
        page.ink.to_picture = to_picture;
        parts = find_parts(page.ink, size);
        page.size = usual_height(parts.parts, work.size());
        if (page.size > 0.75 * size && page.size < 1.33 * size) break;
    }
    page.parts = std::move(parts);
    if (page.size < least_legible * scale) {  // the grain of an empty paper
        page.size = 0;
        page.parts.parts.clear();
    }
    return page;
}

}  // namespace knn::digit
