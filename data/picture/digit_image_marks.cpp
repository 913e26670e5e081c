/// Minus signs and decimal points of a page: small parts, which are known by where they are beside a digit.

#include <algorithm>
#include <cmath>
#include <optional>

#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

// In units of the usual height of a page's digits, which is u below; parts of them belong to digits, too.
constexpr double largest_point = 0.36;
constexpr double shortest_bar = 0.2, longest_bar = 1.5, thickest_bar = 0.3;
constexpr double mark_reach = 1.2;  ///< to the next digit

/// By its shape alone.
std::optional<char> sign_of(const Part& part, double usual) {
    const double w = part.box.width / usual, h = part.box.height / usual;
    if (w >= shortest_bar && w <= longest_bar && h <= std::min(thickest_bar, 0.5 * w)) return '-';
    const bool is_solid = part.area > 0.4 * part.box.area();
    if (std::max(w, h) <= largest_point && w <= 2 * h && h <= 3 * w && is_solid) return '.';
    return std::nullopt;
}

/// The empty space between two boxes from left to right; negative where they overlap.
double gap_across(const cv::Rect& a, const cv::Rect& b) {
    return std::max(a.x - b.br().x, b.x - a.br().x);
}

/// Where the middle of a box is, as a share of the height of a digit below its upper end.
double level_at(const cv::Rect& box, const cv::Rect& digit) {
    return (box.y + 0.5 * box.height - digit.y) / std::max(1, digit.height);
}

/// Whether a mark is at the height of its sign beside a digit, not a piece of it.
bool is_beside(char sign, const cv::Rect& box, const cv::Rect& digit, double usual) {
    const double gap = gap_across(box, digit), level = level_at(box, digit);
    if (gap > mark_reach * usual) return false;
    if (sign == '-') return gap > 0 && level > 0.25 && level < 0.75;
    // Below the bar of a 7 there is room for a point.
    const double off = std::abs(box.x + 0.5 * box.width - digit.x - 0.5 * digit.width);
    return (gap > 0 || off > 0.35 * digit.width) && level > 0.75 && level < 1.4;
}

/// Whether a mark may be a piece of a digit: it is above, below or within its box.
bool is_piece(char sign, const cv::Rect& box, const Group& group, double usual) {
    const double level = level_at(box, group.box);
    return gap_across(box, group.box) < -0.3 * box.width && level > -0.3 && level < 1.3 &&
           !is_beside(sign, box, group.box, usual);
}

/// The nearest digit that a mark is beside; null if it is no mark.
const Group* digit_beside(char sign, const cv::Rect& box, std::span<const Group> groups, double usual) {
    const Group* nearest = nullptr;
    for (const Group& group : groups) {
        if (is_piece(sign, box, group, usual)) return nullptr;
        if (is_beside(sign, box, group.box, usual) &&
            (nearest == nullptr || gap_across(box, group.box) < gap_across(box, nearest->box)))
            nearest = &group;
    }
    return nearest;
}

}  // namespace

std::vector<Mark> take_marks(Page& page) {
    std::vector<Part>& parts = page.parts.parts;
    const auto may_be = [&](const Part& part) { return sign_of(part, page.size).has_value(); };
    std::vector<Part> candidates;
    std::ranges::copy_if(parts, std::back_inserter(candidates), may_be);
    std::erase_if(parts, may_be);
    const std::vector<Group> groups = all_groups(page);
    std::vector<Mark> marks;
    for (const Part& part : candidates) {
        const char sign = *sign_of(part, page.size);
        const Group* digit = digit_beside(sign, part.box, groups, page.size);
        if (digit != nullptr && part.peak > 0.5 * digit->peak)
            marks.push_back({sign, part.box});
        else
            parts.push_back(part);
    }
    return marks;
}

void set_rows(std::vector<Mark>& marks, std::span<const Group> groups, double usual) {
    std::erase_if(marks, [&](Mark& mark) {
        const Group* digit = digit_beside(mark.sign, mark.box, groups, usual);
        if (digit != nullptr) mark.row = digit->row;
        return digit == nullptr;
    });
    std::ranges::sort(marks, {}, [](const Mark& mark) { return std::pair(mark.row, mark.box.x); });
}

}  // namespace knn::digit
