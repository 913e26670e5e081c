/// Gathers the parts of a page into digits, and puts these into rows, which may slope.

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

// In units of the usual height of a page's digits.
constexpr double part_gap = 0.22;    // gap between the parts of a digit
constexpr double smallest = 0.35;    // of a digit; punctuation is smaller
constexpr double largest = 2.2;      // of a digit's height; lines and frames are larger
constexpr double narrow_gap = 0.12;  // in a stroke

constexpr double step_of_edge = 0.2;  // share of the light that is lost at the edge of a thing

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
    const double dark = reached_by_half(parts, [](const Part& part) { return part.peak; });
    std::erase_if(parts, [&](const Part& part) { return part.peak < 0.4 * dark; });
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return size_of(a.box) > size_of(b.box); });
    std::vector<Group> groups;
    for (const Part& part : parts) {
        Group* best = nullptr;
        double nearest = part_gap * usual;
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

namespace {

constexpr double most_slope = 0.2, slope_step = 0.01;  // tangents; 0.2: 11 degrees

cv::Point2d middle(const Group& group) {
    return {group.box.x + group.box.width / 2.0, group.box.y + group.box.height / 2.0};
}

double median_height(const std::vector<Group>& groups) {
    std::vector<int> heights;
    for (const Group& group : groups)
        heights.push_back(group.box.height);
    const auto at = heights.begin() + std::ptrdiff_t(heights.size() / 2);
    std::nth_element(heights.begin(), at, heights.end());
    return *at;
}

/// The slope at which the digits lie in the fewest and narrowest rows: the sum over all pairs of neighbors in
/// a row, the nearer the straighter. Of equal slopes the flattest.
double slope_of(const std::vector<Group>& groups, double height) {
    double best = 0, most = -1;
    for (int i = 0; i <= int(2 * most_slope / slope_step); ++i) {
        const double slope = (i % 2 == 0 ? 1 : -1) * double((i + 1) / 2) * slope_step;
        std::vector<double> levels;
        for (const Group& group : groups)
            levels.push_back(middle(group).y - slope * middle(group).x);
        std::sort(levels.begin(), levels.end());
        double score = 0;
        for (std::size_t a = 0; a < levels.size(); ++a)
            for (std::size_t b = a + 1; b < levels.size() && levels[b] - levels[a] < 0.5 * height; ++b)
                score += 1 - (levels[b] - levels[a]) / (0.5 * height);
        if (score > 1.02 * most) most = score, best = slope;
    }
    return best;
}

}  // namespace

void sort_into_rows(std::vector<Group>& groups) {
    if (groups.empty()) return;
    const double height = median_height(groups), slope = slope_of(groups, height);
    struct Row {
        std::vector<Group> groups;
        double level = 0;  ///< of the last digit, without the slope
    };
    std::vector<Row> rows;
    std::sort(groups.begin(), groups.end(),
              [](const Group& a, const Group& b) { return middle(a).x < middle(b).x; });
    for (Group& group : groups) {
        const double level = middle(group).y - slope * middle(group).x;
        Row* nearest = nullptr;
        double least = 0.6 * std::max<double>(height, group.box.height);
        for (Row& row : rows)
            if (const double off = std::abs(row.level - level); off < least) nearest = &row, least = off;
        if (nearest == nullptr) nearest = &rows.emplace_back();
        // Rows may bend: the next digit is compared with the last ones.
        nearest->level = nearest->groups.empty() ? level : 0.5 * (nearest->level + level);
        nearest->groups.push_back(std::move(group));
    }
    std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
        const auto mean = [&](const Row& row) {
            double sum = 0;
            for (const Group& group : row.groups)
                sum += middle(group).y - slope * middle(group).x;
            return sum / double(row.groups.size());
        };
        return mean(a) < mean(b);
    });
    groups.clear();
    for (std::size_t row = 0; row < rows.size(); ++row)
        for (Group& group : rows[row].groups) {
            group.row = int(row);
            groups.push_back(std::move(group));
        }
}

}  // namespace knn::digit
