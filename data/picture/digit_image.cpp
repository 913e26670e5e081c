#include "data/picture/digit_image.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <opencv2/imgproc.hpp>

#include "data/picture/digit_image_steps.h"

namespace knn {

namespace {

constexpr int longest = 20;  ///< the longer side of MNIST's digits, pixels

cv::Mat mat_of(const Picture& picture) {
    return cv::Mat(picture.rows, picture.cols, CV_8U, const_cast<std::uint8_t*>(picture.gray.data()));
}

void add(std::vector<Step>* steps, const char* name, const cv::Mat& mat) {
    if (steps == nullptr) return;
    Step step{name, {mat.rows, mat.cols, std::vector<std::uint8_t>(mat.total())}};
    mat.copyTo(cv::Mat(mat.rows, mat.cols, CV_8U, step.picture.gray.data()));
    steps->push_back(std::move(step));
}

/// Whether 28×28 pixels look like MNIST: ink on background 0 in a box of at most 20×20 with one side nearly
/// 20, and the center of mass in the middle.
bool is_made(const cv::Mat& gray) {
    const cv::Rect box = cv::boundingRect(gray > 0);
    const cv::Moments sums = cv::moments(gray);
    double most = 0;
    cv::minMaxLoc(gray, nullptr, &most);
    const int long_side = std::max(box.width, box.height);
    if (sums.m00 == 0 || most < 200 || long_side > 20 || long_side < 16) return false;
    const auto middle = [&](double moment) { return std::abs(moment / sums.m00 - 13.75) <= 1; };
    return middle(sums.m10) && middle(sums.m01);
}

/// The smallest box of the picture that holds a box of working pixels.
Box box_in(const cv::Rect& box, const cv::Matx33d& to_picture, const Picture& picture) {
    double left = picture.cols, right = 0, top = picture.rows, bottom = 0;
    for (const double x : {box.x, box.br().x})
        for (const double y : {box.y, box.br().y}) {
            const cv::Vec3d at = to_picture * cv::Vec3d(x, y, 1);
            left = std::min(left, at[0] / at[2]), right = std::max(right, at[0] / at[2]);
            top = std::min(top, at[1] / at[2]), bottom = std::max(bottom, at[1] / at[2]);
        }
    const auto down = [&](double value) { return std::max(0, int(std::floor(value + 1e-6))); };
    const auto up = [&](double value, int most) { return std::min(most, int(std::ceil(value - 1e-6))); };
    Box result{down(left), down(top), 0, 0};
    result.w = up(right, picture.cols) - result.x;
    result.h = up(bottom, picture.rows) - result.y;
    return result;
}

void copy(const cv::Mat& from, DigitImage::Pixels& to) {
    from.copyTo(cv::Mat(DigitImage::side, DigitImage::side, CV_8U, to.data()));
}

/// box: of its ink in the picture.
DigitImage image_of(const cv::Mat& pixels, const Box& box) {
    DigitImage result;
    result.box = box;
    copy(pixels, result.pixels);
    return result;
}

/// A 28×28 picture that already looks like MNIST, or its negative; empty if it does not.
cv::Mat already_made(const Picture& picture) {
    if (picture.rows != DigitImage::side || picture.cols != DigitImage::side) return {};
    const cv::Mat gray = mat_of(picture), negative = 255 - gray;
    return is_made(gray) ? gray : is_made(negative) ? negative : cv::Mat();
}

DigitImage already(const cv::Mat& made) {
    const cv::Rect box = cv::boundingRect(made);
    return image_of(made, {box.x, box.y, box.width, box.height});
}

void add(std::vector<Step>* steps, const digit::Ink& ink, const digit::Parts& parts) {
    if (steps == nullptr) return;
    add(steps, "even light", ink.evened);
    const cv::Mat paper = parts.labels == 0;
    add(steps, "ink", paper);
}

/// The image of strokes; its box is that of the strokes.
DigitImage made(const Picture& picture, const digit::Ink& ink, const digit::Strokes& strokes,
                std::vector<Step>* steps = nullptr) {
    if (steps != nullptr) {
        cv::Mat shown;
        cv::Mat(255 - 255 * strokes.levels).convertTo(shown, CV_8U);
        add(steps, "digit", shown);
    }
    const cv::Mat usual = digit::with_usual_pen(strokes.levels, strokes.pen);
    const cv::Mat pixels = digit::placed(usual, longest);
    add(steps, "28x28", pixels);
    const cv::Rect box = digit::box_of(strokes.levels) + strokes.corner;
    DigitImage result = image_of(pixels, box_in(box, ink.to_picture, picture));
    copy(digit::placed(usual, longest - 1), result.smaller.emplace());
    return result;
}

/// A group of a page with its other hypotheses.
DigitImage made(const Picture& picture, const digit::Page& page, const digit::Group& group) {
    const digit::Strokes strokes = digit::strokes_of(page.ink, page.parts, group);
    DigitImage result = made(picture, page.ink, strokes);
    result.row = group.row;
    for (const std::vector<digit::Strokes>& pieces : digit::cuts_of(strokes, page.size)) {
        std::vector<DigitImage>& hypothesis = result.hypotheses.emplace_back();
        for (const digit::Strokes& piece : pieces) {
            hypothesis.push_back(made(picture, page.ink, piece));
            hypothesis.back().row = group.row;
        }
    }
    return result;
}

/// From pixels of a sheet to those of the picture.
cv::Matx33d moved_to(const digit::Sheet& sheet, const cv::Matx33d& to_sheet) {
    return cv::Matx33d(1, 0, sheet.corner.x, 0, 1, sheet.corner.y, 0, 0, 1) * to_sheet;
}

/// The digit of a picture, as `refused` says.
struct Found {
    digit::Ink ink;
    digit::Parts parts;
    digit::Group group;
    std::string refused;
};

Found found_on(const digit::Sheet& sheet) {
    Found found;
    found.ink = digit::find_ink(sheet.gray);
    found.ink.to_picture = moved_to(sheet, found.ink.to_picture);
    found.parts = digit::find_parts(found.ink);
    found.group = digit::one_group(found.parts, found.ink.amount.size(), found.refused);
    return found;
}

digit::Page page_on(const digit::Sheet& sheet) {
    digit::Page page = digit::find_page(sheet.gray);
    page.ink.to_picture = moved_to(sheet, page.ink.to_picture);
    return page;
}

/// Called before OpenCV throws.
int throw_bad_alloc(int status, const char*, const char*, const char*, int, void*) {
    if (status == cv::Error::StsNoMem) throw std::bad_alloc();
    return 0;
}

}  // namespace

void set_up_opencv() {
    cv::redirectError(throw_bad_alloc);
    // Pictures are divided among our own threads. OpenCV's wait for ever for one that memory did not suffice for, and not all of its
    // builds read OPENCV_FOR_THREADS_NUM.
    cv::setNumThreads(1);
}

DigitImage extract_digit(const Picture& picture, std::vector<Step>* steps) {
    add(steps, "input", mat_of(picture));
    if (const cv::Mat same = already_made(picture); !same.empty()) {
        add(steps, "28x28", same);
        return already(same);
    }
    const digit::Sheet sheet = digit::find_sheet(mat_of(picture));
    Found found;
    if (!sheet.gray.empty()) found = found_on(sheet);
    // A sheet without ink is none: it may be a stroke.
    if (found.group.parts.empty())
        found = found_on({mat_of(picture), {}});
    else
        add(steps, "sheet", sheet.gray);
    add(steps, found.ink, found.parts);
    DigitImage result;
    if (!found.group.parts.empty()) {
        result = made(picture, found.ink, digit::strokes_of(found.ink, found.parts, found.group), steps);
        result.box = box_in(found.group.box, found.ink.to_picture, picture);
    }
    result.refused = found.refused;
    return result;
}

std::vector<DigitImage> extract_digits(const Picture& picture, std::vector<Step>* steps,
                                       std::vector<PageMark>* marks) {
    add(steps, "input", mat_of(picture));
    const digit::Sheet sheet = digit::find_sheet(mat_of(picture));
    digit::Page page;
    if (!sheet.gray.empty()) page = page_on(sheet);
    if (digit::all_groups(page).empty())
        page = page_on({mat_of(picture), {}});
    else
        add(steps, "sheet", sheet.gray);
    add(steps, page.ink, page.parts);
    std::vector<digit::Mark> found;
    if (marks != nullptr && page.size > 0) found = digit::take_marks(page);
    std::vector<digit::Group> groups = digit::all_groups(page);
    if (groups.size() == 1)
        if (const cv::Mat same = already_made(picture); !same.empty()) return {already(same)};
    digit::sort_into_rows(groups);
    digit::set_rows(found, groups, page.size);
    for (const digit::Mark& mark : found)
        marks->push_back({mark.sign, box_in(mark.box, page.ink.to_picture, picture), mark.row});
    std::vector<DigitImage> results;
    for (const digit::Group& group : groups)
        results.push_back(made(picture, page, group));
    return results;
}

std::vector<DigitImage> extract_form(const Picture& picture, FormFrame frame, std::span<const FormBox> boxes,
                                     std::vector<Step>* steps) {
    add(steps, "input", mat_of(picture));
    std::vector<DigitImage> results;
    for (const std::vector<int>& numbers : digit::boxes_by_height(boxes)) {
        std::vector<FormBox> alike;
        for (const int number : numbers)
            alike.push_back(boxes[std::size_t(number)]);
        digit::Page page = digit::find_form(mat_of(picture), frame, alike);
        const std::vector<digit::Group> groups = digit::groups_of_boxes(page, alike);
        if (numbers.size() * 2 > boxes.size()) add(steps, page.ink, page.parts);
        for (const digit::Group& group : groups) {
            results.push_back(alike[std::size_t(group.row)].one_digit
                                  ? made(picture, page.ink, digit::strokes_of(page.ink, page.parts, group))
                                  : made(picture, page, group));
            results.back().row = numbers[std::size_t(group.row)];
        }
    }
    std::ranges::stable_sort(results, {}, &DigitImage::row);
    return results;
}

}  // namespace knn
