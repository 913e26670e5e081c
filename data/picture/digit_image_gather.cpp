/// Gathers the parts of a page into digits.

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

// In units of the usual height of a page's digits.
constexpr double near_by = 0.22;   // gap between the parts of a digit
constexpr double smallest = 0.35;  // of a digit; punctuation is smaller
constexpr double largest = 2.2;    // of a digit's height; lines and frames are larger

/// The darkness that half of the ink of `parts` reaches.
double usual_peak(std::vector<Part> parts) {
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.peak > b.peak; });
    double total = 0, so_far = 0;
    for (const Part& part : parts)
        total += part.mass;
    for (const Part& part : parts)
        if ((so_far += part.mass) >= total / 2) return part.peak;
    return 0;
}

/// Whether two parts are of one digit: one is above or within the other. Parts side by side are two digits.
bool same_digit(const cv::Rect& group, const cv::Rect& part, double usual) {
    const double shared = double((group & part).area()) / std::max(1, part.area());
    const int over = std::min(group.br().x, part.br().x) - std::max(group.x, part.x);
    return (shared > 0.3 || over > 0.5 * std::min(group.width, part.width) ||
            size_of(part) < smallest * usual) &&
           (group | part).height < 1.4 * std::max<double>(usual, group.height) &&
           (group | part).width < 1.4 * std::max<double>(usual, group.width);
}

}  // namespace

std::vector<Group> all_groups(const Parts& found, cv::Size size, double usual) {
    std::vector<Part> parts;
    for (const Part& part : found.parts)
        if (!is_border(part, size) && is_stroke(part) && part.box.height < largest * usual)
            parts.push_back(part);
    const double dark = usual_peak(parts);
    std::erase_if(parts, [&](const Part& part) { return part.peak < 0.4 * dark; });
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return size_of(a.box) > size_of(b.box); });
    std::vector<Group> groups;
    for (const Part& part : parts) {
        Group* best = nullptr;
        double nearest = near_by * usual;
        for (Group& group : groups)
            if (const double distance = gap(group.box, part.box);
                distance <= nearest && same_digit(group.box, part.box, usual))
                best = &group, nearest = distance;
        if (best != nullptr)
            join(*best, part);
        else
            groups.push_back(group_of(part));
    }
    std::erase_if(groups, [&](const Group& group) { return size_of(group.box) < smallest * usual; });
    return groups;
}

}  // namespace knn::digit
