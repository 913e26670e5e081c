/// Gathers the parts of a page into digits.

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

// In units of the usual height of a page's digits.
constexpr double near_by = 0.22;     // gap between the parts of a digit
constexpr double smallest = 0.35;    // of a digit; punctuation is smaller
constexpr double largest = 2.2;      // of a digit's height; lines and frames are larger
constexpr double narrow_gap = 0.12;  // in a stroke

constexpr double step_of_edge = 0.2;  // share of the light that is lost at the edge of a thing

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

/// Whether two parts are of one digit: one is above or within the other, or a piece of it. Other parts side by
/// side are two digits.
bool same_digit(const cv::Rect& group, const cv::Rect& part, double usual) {
    const cv::Rect both = group | part;
    const double shared = double((group & part).area()) / std::max(1, part.area());
    const int over = std::min(group.br().x, part.br().x) - std::max(group.x, part.x);
    const bool piece = gap(group, part) <= narrow_gap * usual && both.width < 0.95 * usual &&
                       both.height < 1.25 * usual && std::min(group.height, part.height) < 0.7 * usual;
    return (shared > 0.3 || over > 0.5 * std::min(group.width, part.width) || piece ||
            size_of(part) < smallest * usual) &&
           both.height < 1.4 * std::max<double>(usual, group.height) &&
           both.width < 1.4 * std::max<double>(usual, group.width);
}

/// How much of the light is lost within a quarter of a digit around each pixel. CV_32F
cv::Mat steps_of(const cv::Mat& paper, double usual) {
    // The paper changes slowly: a fourth of its pixels are enough.
    const cv::Mat small = scaled(paper, 0.25, cv::INTER_AREA);
    cv::Mat bright, dark, step;
    const int width = std::max(3, int(usual / 8) | 1);
    cv::dilate(small, bright, cv::Mat::ones(width, width, CV_8U));
    cv::erode(small, dark, cv::Mat::ones(width, width, CV_8U));
    cv::divide(bright - dark, bright, step, 1, CV_32F);
    cv::resize(step, step, paper.size(), 0, 0, cv::INTER_LINEAR);
    return step;
}

}  // namespace

std::vector<Group> all_groups(const Page& page) {
    const double usual = page.size;
    const Parts& found = page.parts;
    std::vector<Part> parts;
    if (found.parts.empty()) return {};
    const cv::Mat steps = steps_of(page.ink.paper, usual);
    // What lies along the edge of a shadow or of a thing on the desk is not on paper.
    const auto on_edge = [&](const Part& part) {
        return cv::mean(steps(part.box), found.labels(part.box) == part.label)[0] > step_of_edge;
    };
    for (const Part& part : found.parts)
        if (!is_border(part, page.ink.amount.size()) && is_stroke(part) &&
            part.box.height < largest * usual && !on_edge(part))
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

bool may_be_one(const Group& left, const Group& right, double usual) {
    const cv::Rect both = left.box | right.box;
    return left.row == right.row && right.box.x - left.box.br().x < narrow_gap * usual &&
           both.width < 0.9 * usual && both.height < 1.25 * usual;
}

}  // namespace knn::digit
