/// Puts the digits of a page into rows, which may slope.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/picture/digit_image_steps.h"

namespace knn::digit {

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
