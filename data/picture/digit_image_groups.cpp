/// Chooses the parts of the one digit of a picture. Gathers those of a page into digits, and puts these into rows, which
/// may slope.

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <set>

#include "data/file/transfer.h"
#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

/// The empty space between two boxes, 0 if they touch or overlap.
double gap(const cv::Rect& a, const cv::Rect& b) {
    const int x = std::max({0, a.x - b.br().x, b.x - a.br().x});
    const int y = std::max({0, a.y - b.br().y, b.y - a.br().y});
    return std::max(x, y);
}

Group group_of(const Part& part) {
    return {{part}, part.box, part.mass, part.peak, part.pen};
}

double worth(const Part& part, cv::Size size) {
    const double x = (part.box.x + part.box.width / 2.0) / size.width - 0.5;
    const double y = (part.box.y + part.box.height / 2.0) / size.height - 0.5;
    double value = part.mass * size_of(part.box) * (1 - x * x - y * y);
    if (part.edges > 0) value *= 0.25;
    if (is_border(part, size)) value *= 0.02;
    if (!is_stroke(part)) value *= 0.1;
    return value;
}

/// A piece of a broken stroke, the bar of a 5: near, as dark, and not a speck compared with the pen's width.
bool belongs(const Group& group, const Part& part, double reach) {
    return gap(group.box, part.box) <= reach && part.peak > 0.5 * group.peak && part.peak < 2 * group.peak &&
           part.area > 0.3 * group.pen * group.pen && size_of(part.box) > 0.06 * size_of(group.box);
}

/// Whether a part that is not of the digit may be another one, not a mark beside it.
bool is_alike(const Group& group, const Part& part) {
    return is_stroke(part) && part.peak > 0.5 * group.peak && part.mass > 0.25 * group.mass &&
           size_of(part.box) > 0.5 * size_of(group.box);
}

}  // namespace

double size_of(const cv::Rect& box) {
    return std::max(box.width, box.height);
}

void join(Group& group, const Part& part) {
    group.pen = (group.pen * group.mass + part.pen * part.mass) / (group.mass + part.mass);
    group.parts.push_back(part);
    group.box |= part.box;
    group.mass += part.mass;
}

double reached_by(std::vector<Part> parts, double share, double (*value)(const Part& part)) {
    std::sort(parts.begin(), parts.end(), [&](const Part& a, const Part& b) { return value(a) > value(b); });
    double total = 0, so_far = 0;
    for (const Part& part : parts)
        total += part.mass;
    for (const Part& part : parts)
        if ((so_far += part.mass) >= share * total) return value(part);
    return 0;
}

void erase_faint(std::vector<Part>& parts) {
    const double dark = reached_by(parts, 0.2, [](const Part& part) { return part.peak; });
    std::set<int> dark_wholes;
    for (const Part& part : parts)
        if (part.peak >= 0.4 * dark) dark_wholes.insert(part.whole);
    std::erase_if(parts, [&](const Part& part) { return !dark_wholes.contains(part.whole); });
}

bool is_stroke(const Part& part) {
    return part.pen < 0.6 * size_of(part.box);
}

bool is_border(const Part& part, cv::Size size) {
    const bool along = part.box.width > 0.9 * size.width || part.box.height > 0.9 * size.height;
    return part.edges > 0.5 * size_of(part.box) ||
           (along && part.edges > 0 && part.pen < 0.02 * size_of(part.box));
}

/// Whether ink along one side of the picture is a digit that is cut there: it reaches far from that side, with strokes.
bool is_cut_digit(const Part& part, cv::Size size) {
    const int sides = (part.box.x == 0) + (part.box.y == 0) + (part.box.br().x == size.width) +
                      (part.box.br().y == size.height);
    return sides == 1 && part.pen < 0.25 * size_of(part.box) &&
           std::min(part.box.width, part.box.height) > 0.5 * size_of(part.box);
}

Group one_group(const Parts& found, cv::Size size, std::string& refused) {
    std::vector<Part> parts = found.parts;
    if (parts.empty()) {
        refused = found.speck_mass > 0 ? "there are only specks in the picture" : no_ink;
        return {};
    }
    erase_underlines(parts);
    std::sort(parts.begin(), parts.end(),
              [&](const Part& a, const Part& b) { return worth(a, size) > worth(b, size); });
    Group group = group_of(parts.front());
    const double own = size_of(group.box);
    // A part may touch another one that is joined later; the larger of the two sets the scale.
    std::vector<Part> others_left(parts.begin() + 1, parts.end());
    for (bool found_one = true; found_one;) {
        throw_if_stopped();
        found_one = false;
        for (auto part = others_left.begin(); part != others_left.end() && !found_one; ++part) {
            const double scale = std::max(own, std::min(size_of(part->box), 1.6 * own));
            if (is_border(*part, size) || !belongs(group, *part, 0.22 * scale) ||
                size_of(group.box | part->box) >= 2.5 * scale)
                continue;
            join(group, *part);
            others_left.erase(part);
            found_one = true;
        }
    }

    double rest = found.speck_mass;
    int others = 0, alike = 0;
    for (const Part& part : parts) {
        if (is_border(part, size)) continue;
        rest += part.mass;
        others += part.mass > 0.2 * group.mass;
    }
    for (const Part& part : others_left)
        alike += is_alike(group, part) && !is_border(part, size);
    rest -= group.mass;
    if (is_border(parts.front(), size) && !is_cut_digit(parts.front(), size))
        refused = "all ink lies along the picture's border: a digit needs paper around it";
    else if (!is_stroke(parts.front()))
        refused = "there are no pen strokes in the picture";
    else if (rest > 20 * group.mass || (others >= 12 && rest > 4 * group.mass))
        refused = "there are many marks in the picture and none is dominant";
    else if (size_of(group.box) < 0.02 * std::max(size.width, size.height))
        refused = "the ink is smaller than 2 % of the picture: classify it as a page (many)";
    else if (alike > 0)
        refused = "there are several digits in the picture: classify it as a page (many)";
    return group;
}

namespace {

// In units of the usual height of a page's digits.
constexpr double part_gap = 0.22;    // gap between the parts of a digit
constexpr double smallest = 0.35;    // of a digit; punctuation is smaller
constexpr double largest = 2.2;      // of a digit's height; lines and frames are larger
constexpr double narrow_gap = 0.12;  // in a stroke

constexpr double step_of_edge = 0.3;      // share of the light that is lost at the edge of a thing
constexpr double darker_than_edge = 0.2;  // ink beside it

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
    const cv::Mat small = scaled(paper, 0.25);
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
        const double step = cv::mean(steps(part.box), found.labels(part.box) == part.label)[0];
        return step > step_of_edge && part.peak < step + darker_than_edge;
    };
    for (const Part& part : found.parts) {
        throw_if_stopped();
        const cv::Size size = page.ink.amount.size();
        if ((!is_border(part, size) || is_cut_digit(part, size)) && is_stroke(part) &&
            part.box.height < largest * usual && !on_edge(part))
            parts.push_back(part);
    }
    erase_faint(parts);
    erase_combs(parts, usual);
    erase_underlines(parts);
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return size_of(a.box) > size_of(b.box); });
    std::vector<Group> groups;
    for (const Part& part : parts) {
        throw_if_stopped();
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

namespace {

constexpr double most_slope = 0.2, slope_step = 0.01;  // tangents; 0.2: 11 degrees

cv::Point2d middle(const Group& group) {
    return {group.box.x + group.box.width / 2.0, group.box.y + group.box.height / 2.0};
}

/// The slope at which the digits lie in the fewest and narrowest rows: the sum over all pairs of neighbors in
/// a row, the nearer the straighter. Of equal slopes the flattest.
double slope_of(const std::vector<Group>& groups, double height) {
    double best = 0, most = -1;
    for (int i = 0; i <= int(2 * most_slope / slope_step); ++i) {
        const double slope = (i % 2 == 0 ? 1 : -1) * double((i + 1) / 2) * slope_step;
        throw_if_stopped();
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
    std::vector<double> heights;
    for (const Group& group : groups)
        heights.push_back(group.box.height);
    const double height = median_of(std::move(heights)), slope = slope_of(groups, height);
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
