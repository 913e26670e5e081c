/// Finds the frame of a form in a picture, takes the perspective out, and finds the digits in its boxes.

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <numeric>
#include <opencv2/imgproc.hpp>
#include <optional>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/transfer.h"
#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

using Corners = std::array<cv::Point2f, 4>;  ///< of a quadrilateral, clockwise from the upper left

constexpr double box_height = 1.5;  ///< of a usual box, in digits
constexpr double least_box = 0.5;   ///< of that height: in lower ones digits are taken for punctuation
constexpr double least_width =
    0.25;  ///< of a box, of its height: in narrower ones the pieces of digits are taken for ones
constexpr double box_margin =
    0.06;  ///< of a box, of its height: its lines, which are not quite where they should be
constexpr double frame_error =
    4;  ///< of the frame and half a line, in pixels of the size in which it was found
constexpr double border_band = 0.17;  ///< what lies within is a rest of these lines
constexpr double most_enlarged_form = 4;
constexpr double thickest_frame = 0.015;                ///< of the picture's longer side
constexpr double faintest_frame = 0.1;                  ///< of the light of the paper
constexpr double least_frame = 0.1, least_paper = 0.2;  ///< of the picture

/// The corners of what a mask shows: its outermost points along both diagonals. `mask` is not empty.
Corners corners_of(const cv::Mat& mask) {
    std::vector<cv::Point> points;
    cv::findNonZero(mask, points);
    const auto most = [&](int x, int y) {
        const auto along = [&](const cv::Point& at) { return x * at.x + y * at.y; };
        return cv::Point2f(*std::ranges::max_element(points, {}, along));
    };
    return {most(-1, -1), most(1, -1), most(1, 1), most(-1, 1)};
}

/// Whether these are the corners of a frame that covers this share of the picture. No three of them lie nearly in a line, as those of
/// a square on its tip do.
bool is_frame(const Corners& corners, double share, cv::Size picture) {
    const auto area = [](const std::vector<cv::Point2f>& points) { return cv::contourArea(points); };
    const double whole = area({corners.begin(), corners.end()});
    for (std::size_t i = 0; i < corners.size(); ++i)
        if (area({corners[i], corners[(i + 1) % 4], corners[(i + 2) % 4]}) < 0.1 * whole) return false;
    return whole >= share * picture.area();
}

/// The same corners as those where the sides meet: straight lines along the edge of the mask, or in the middle of the `lines` that
/// it shows. The corners themselves are known to a pixel or two, which along a narrow frame would be perspective.
Corners where_sides_meet(const cv::Mat& mask, const Corners& corners, bool lines) {
    constexpr float reach = 4, step = 0.5, ends = 0.05F;
    std::array<cv::Vec4f, 4> sides;  // a direction and a point
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const cv::Point2f along = corners[(i + 1) % 4] - corners[i];
        const auto length = float(cv::norm(along));
        const cv::Point2f outward(along.y / length, -along.x / length);
        std::vector<cv::Point2f> edge;
        std::vector<float> widths;  // of the line there
        for (float at = ends * length; at < (1 - ends) * length; ++at) {
            float width = 0;
            for (float out = reach; out >= -2 * reach; out -= step) {
                const cv::Point pixel = corners[i] + along * (at / length) + outward * out;  // the nearest
                const bool in = cv::Rect({}, mask.size()).contains(pixel) && mask.at<std::uint8_t>(pixel) > 0;
                if (!in && width > 0) break;
                if (in && width == 0) edge.emplace_back(pixel);
                if (in) width += step;
            }
            if (width > 0) widths.push_back(width);
        }
        if (edge.size() < 2) return corners;
        cv::fitLine(edge, sides[i], cv::DIST_HUBER, 0, 0.01, 0.01);
        const cv::Point2f inward =
            -outward * (lines ? 0.5F * (median_of(widths) - 1) : 0);  // from the middle of a pixel
        sides[i][2] += inward.x;
        sides[i][3] += inward.y;
    }
    Corners result = corners;
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const cv::Vec4f &a = sides[(i + 3) % 4], &b = sides[i];
        const float cross = a[0] * b[1] - a[1] * b[0];
        const float at = ((b[2] - a[2]) * b[1] - (b[3] - a[3]) * b[0]) / cross;
        const cv::Point2f meet(a[2] + at * a[0], a[3] + at * a[1]);
        if (cv::norm(meet - corners[i]) <= 2 * reach) result[i] = meet;
    }
    return result;
}

/// The component with the largest box.
cv::Mat largest_component(const cv::Mat& mask) {
    cv::Mat labels, stats, centers;
    const int count = cv::connectedComponentsWithStats(mask, labels, stats, centers, 8);
    int best = 0;
    double most = 0;
    for (int i = 1; i < count; ++i) {
        const int* stat = stats.ptr<int>(i);
        if (const double area = double(stat[cv::CC_STAT_WIDTH]) * stat[cv::CC_STAT_HEIGHT]; area > most)
            most = area, best = i;
    }
    return best == 0 ? cv::Mat() : cv::Mat(labels == best);
}

/// The corners of the largest part of a mask, which has this share of the picture. Throws DataError where it is no frame.
Corners frame_in(const cv::Mat& mask, double share, bool lines, const char* missing) {
    const cv::Mat largest = largest_component(mask);
    const Corners corners = largest.empty() ? Corners{} : corners_of(largest);
    if (!is_frame(corners, share, mask.size())) throw DataError(missing);
    return where_sides_meet(largest, corners, lines);
}

/// `paper`: a reduced picture of dark ink on light paper.
Corners frame_of_lines(const cv::Mat& paper) {
    // A line has light on both sides; the edge of a sheet or of a shadow has not.
    cv::Mat small, filled, lines;
    cv::GaussianBlur(paper, small, {}, 1);
    const int width = std::max(5, int(thickest_frame * std::max(small.rows, small.cols)) | 1);
    cv::morphologyEx(small, filled, cv::MORPH_CLOSE, cv::Mat::ones(width, width, CV_8U));
    double lightest = 0;
    cv::minMaxLoc(filled, nullptr, &lightest);
    cv::dilate(filled - small > faintest_frame * lightest, lines, cv::Mat::ones(3, 3, CV_8U));
    return frame_in(
        lines, least_frame, true,
        "has no frame of lines; expected one around all cells or boxes, of at least a tenth of the picture");
}

Corners frame_of_paper(const cv::Mat& paper) {
    cv::Mat light;
    cv::GaussianBlur(paper, light, {}, 3);
    cv::threshold(light, light, 0, 255, cv::THRESH_BINARY | cv::THRESH_OTSU);
    cv::morphologyEx(light, light, cv::MORPH_CLOSE, cv::Mat::ones(15, 15, CV_8U));
    return frame_in(light, least_paper, false,
                    "has no sheet of paper that is lighter than its surroundings; expected the whole sheet");
}

Corners corners_in(const cv::Mat& paper, FormFrame frame) {
    const auto right = float(paper.cols), low = float(paper.rows);
    return frame == FormFrame::lines   ? frame_of_lines(paper)
           : frame == FormFrame::paper ? frame_of_paper(paper)
                                       : Corners{{{0, 0}, {right, 0}, {right, low}, {0, low}}};
}

/// In pixels, `band` of its height smaller on each side, or `least` pixels if these are more, but at most twice as much.
cv::Rect rect_of(const FormBox& box, cv::Size size, double band, double least = 0) {
    const double usual = band * std::min(box.h * size.height, box.w * size.width),
                 by = std::clamp(least, usual, 2 * usual);
    const cv::Point from(int(std::lround(box.x * size.width + by)),
                         int(std::lround(box.y * size.height + by)));
    const cv::Point to(int(std::lround((box.x + box.w) * size.width - by)),
                       int(std::lround((box.y + box.h) * size.height - by)));
    return cv::Rect(from, to) & cv::Rect({}, size);
}

/// A form without perspective.
struct Straight {
    cv::Mat gray;
    cv::Matx33d to_picture;
    double scale = 1;  ///< pixels per pixel of the picture
};

/// `corners`: in pixels of the picture.
Straight straightened(const cv::Mat& gray, Corners corners, std::span<const FormBox> boxes) {
    const auto side = [&](std::size_t from, std::size_t to) { return cv::norm(corners[to] - corners[from]); };
    double width = 0.5 * (side(0, 1) + side(3, 2)), height = 0.5 * (side(0, 3) + side(1, 2));
    std::vector<double> heights;
    for (const FormBox& box : boxes)
        heights.push_back(box.h);
    double scale = std::min(box_height * digit_side / (median_of(heights) * height), most_enlarged_form);
    scale = std::min(scale, std::sqrt(most_pixels / (width * height)));
    const double pixels = median_of(heights) * height;
    if (scale * pixels < least_box * box_height * digit_side)
        throw DataError("has boxes " + counted(std::lround(pixels), "pixel") +
                        " high, in which digits of its size cannot be found; expected boxes of at least " +
                        std::to_string(std::lround(std::ceil(least_box * box_height * digit_side / scale))) +
                        " pixels");
    for (const FormBox& box : boxes)
        if (const double w = box.w * width, h = box.h * height; w < least_width * h)
            throw DataError("has a box " + std::to_string(std::lround(w)) + " pixels wide and " +
                            std::to_string(std::lround(h)) +
                            " high, in which a digit has no room; expected at least " +
                            std::to_string(std::lround(std::ceil(least_width * h))) + " pixels");
    // Reduced by areas first: warping takes single pixels.
    const double reduced = std::min(1.0, scale);
    const cv::Mat work = scaled(gray, reduced);
    const cv::Size size(std::max(1, int(scale * width)), std::max(1, int(scale * height)));
    for (cv::Point2f& corner : corners)
        corner *= float(reduced);
    const Corners straight = {
        {{0, 0}, {float(size.width), 0}, {float(size.width), float(size.height)}, {0, float(size.height)}}};
    const cv::Matx33d warp = cv::getPerspectiveTransform(corners.data(), straight.data());
    Straight form{{}, to_full_size(reduced) * warp.inv(), scale};
    cv::warpPerspective(work, form.gray, warp, size, cv::INTER_LINEAR, cv::BORDER_REPLICATE);
    return form;
}

}  // namespace

std::vector<std::vector<int>> boxes_by_height(std::span<const FormBox> boxes) {
    constexpr double alike =
        1.5;  // the digits of boxes that are much lower than the others would be taken for punctuation
    std::vector<int> numbers(boxes.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    std::ranges::sort(numbers, {},
                      [&](int number) { return std::pair(boxes[std::size_t(number)].h, number); });
    std::vector<std::vector<int>> lists;
    double least = 0;
    for (const int number : numbers) {
        const double height = boxes[std::size_t(number)].h;
        if (lists.empty() || height > alike * least) {
            lists.emplace_back();
            least = height;
        }
        lists.back().push_back(number);
    }
    for (std::vector<int>& list : lists)
        std::ranges::sort(list);
    return lists;
}

Page find_form(const cv::Mat& gray, FormFrame frame, std::span<const FormBox> boxes) {
    const double scale = scale_of_page(gray);
    const cv::Mat small = scaled(gray, scale);
    // Within a frame: what is around it may be larger, and of the other brightness.
    bool light = false;
    std::optional<Straight> form;
    std::exception_ptr failure;
    for (const bool guess : {false, true}) {
        try {
            Corners corners = corners_in(guess ? cv::Mat(255 - small) : small, frame);
            for (cv::Point2f& corner : corners)
                corner *= float(1 / scale);
            Straight found = straightened(gray, corners, boxes);
            const bool fits = has_light_ink(found.gray) == guess;
            if (!form || fits) form = std::move(found), light = guess;
            if (fits) break;
        } catch (const DataError&) {
            if (!failure) failure = std::current_exception();
        }
    }
    if (!form) std::rethrow_exception(failure);
    cv::Mat where = cv::Mat::zeros(form->gray.size(), CV_8U);
    for (const FormBox& box : boxes)
        where(rect_of(box, where.size(), box_margin, frame_error * form->scale / scale)).setTo(255);
    Page page = find_page_of_size(form->gray, light, where);
    page.ink.to_picture = form->to_picture;
    return page;
}

std::vector<Group> groups_of_boxes(Page& page, std::span<const FormBox> boxes) {
    const cv::Size size = page.ink.amount.size();
    const auto box_of = [&](const cv::Rect& rect) {
        const double x = (rect.x + 0.5 * rect.width) / size.width,
                     y = (rect.y + 0.5 * rect.height) / size.height;
        return std::ranges::find_if(boxes, [&](const FormBox& box) {
            return x >= box.x && x < box.x + box.w && y >= box.y && y < box.y + box.h;
        });
    };
    std::erase_if(page.parts.parts, [&](const Part& part) {
        const auto box = box_of(part.box);
        return box == boxes.end() || (rect_of(*box, size, border_band) & part.box).empty();
    });
    std::vector<Group> all;
    std::vector<Group> groups = all_groups(page);
    for (Group& group : groups)
        group.row = int(box_of(group.box) - boxes.begin());
    std::ranges::sort(groups, {}, [](const Group& group) { return std::pair(group.row, group.box.x); });
    for (Group& group : groups) {
        throw_if_stopped();
        if (group.row == int(boxes.size())) continue;
        if (all.empty() || all.back().row != group.row || !boxes[std::size_t(group.row)].one_digit) {
            all.push_back(std::move(group));
            continue;
        }
        for (const Part& part : group.parts)
            join(all.back(), part);
    }
    return all;
}

}  // namespace knn::digit
