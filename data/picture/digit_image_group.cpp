/// Groups parts into digits.

#include <algorithm>
#include <numeric>

#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

double size_of(const cv::Rect& box) {
    return std::max(box.width, box.height);
}

/// The empty space between two boxes, 0 if they touch or overlap.
double gap(const cv::Rect& a, const cv::Rect& b) {
    const int x = std::max({0, a.x - b.br().x, b.x - a.br().x});
    const int y = std::max({0, a.y - b.br().y, b.y - a.br().y});
    return std::max(x, y);
}

/// Strokes are long and thin; a table's corner, a thumb or a stain are not.
bool is_stroke(const Part& part) {
    return part.pen < 0.6 * size_of(part.box);
}

/// A page border or a shadow edge runs along the picture's border; a digit only touches it.
bool is_border(const Part& part, cv::Size size) {
    const bool along = part.box.width > 0.9 * size.width || part.box.height > 0.9 * size.height;
    return part.edges > 0.5 * size_of(part.box) ||
           (along && part.edges > 0 && part.pen < 0.02 * size_of(part.box));
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

Group group_of(const Part& part) {
    return {{part}, part.box, part.mass, part.peak, part.pen};
}

void join(Group& group, const Part& part) {
    group.pen = (group.pen * group.mass + part.pen * part.mass) / (group.mass + part.mass);
    group.parts.push_back(part);
    group.box |= part.box;
    group.mass += part.mass;
}

/// A piece of a broken stroke, the bar of a 5: near, as dark, and not a speck compared with the pen's width.
bool belongs(const Group& group, const Part& part, double reach) {
    return gap(group.box, part.box) <= reach && part.peak > 0.5 * group.peak && part.peak < 2 * group.peak &&
           part.area > 0.3 * group.pen * group.pen && size_of(part.box) > 0.06 * size_of(group.box);
}

}  // namespace

Group one_group(const Parts& found, cv::Size size, std::string& refused) {
    std::vector<Part> parts = found.parts;
    if (parts.empty()) {
        refused = found.speck_mass > 0 ? "there are only specks in the picture" : "the picture is blank";
        return {};
    }
    std::sort(parts.begin(), parts.end(),
              [&](const Part& a, const Part& b) { return worth(a, size) > worth(b, size); });
    Group group = group_of(parts.front());
    const double own = size_of(group.box);
    for (std::size_t i = 1; i < parts.size(); ++i)
        if (!is_border(parts[i], size) && belongs(group, parts[i], 0.22 * own) &&
            size_of(group.box | parts[i].box) < 2.2 * own)
            join(group, parts[i]);

    double rest = found.speck_mass;
    int others = 0;
    for (const Part& part : parts) {
        if (is_border(part, size)) continue;
        rest += part.mass;
        others += part.mass > 0.2 * group.mass;
    }
    rest -= group.mass;
    if (is_border(parts.front(), size))
        refused = "all ink lies along the picture's border: a digit needs paper around it";
    else if (!is_stroke(parts.front()))
        refused = "there are no pen strokes in the picture";
    else if (size_of(group.box) < 0.02 * std::max(size.width, size.height) || rest > 20 * group.mass ||
             (others >= 12 && rest > 4 * group.mass))
        refused = "there are many marks in the picture and none is dominant";
    return group;
}

std::vector<Group> all_groups(const Parts& found, cv::Size size) {
    std::vector<Part> parts;
    for (const Part& part : found.parts)
        if (!is_border(part, size) && is_stroke(part)) parts.push_back(part);
    if (parts.empty()) return {};
    std::vector<double> heights;
    double darkest = 0;
    for (const Part& part : parts) {
        heights.push_back(size_of(part.box));
        darkest = std::max(darkest, part.peak);
    }
    // Half of the ink is in parts at least this large.
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return size_of(a.box) > size_of(b.box); });
    const double total = std::accumulate(parts.begin(), parts.end(), 0.0,
                                         [](double sum, const Part& p) { return sum + p.mass; });
    double so_far = 0, usual = size_of(parts.front().box);
    for (const Part& part : parts)
        if ((so_far += part.mass) >= total / 2) {
            usual = size_of(part.box);
            break;
        }

    std::vector<Group> groups;
    for (const Part& part : parts) {  // the largest first
        if (part.peak < 0.3 * darkest) continue;
        Group* best = nullptr;
        double nearest = 0.22 * usual;
        for (Group& group : groups) {
            const cv::Rect both = group.box | part.box;
            const double shared = double((group.box & part.box).area()) / std::max(1, part.box.area());
            const int over = std::min(group.box.br().x, part.box.br().x) - std::max(group.box.x, part.box.x);
            // Parts side by side are two digits; one above or within the other are parts of one digit.
            const bool same = shared > 0.3 || over > 0.5 * std::min(group.box.width, part.box.width) ||
                              size_of(part.box) < 0.35 * usual;
            const double distance = gap(group.box, part.box);
            if (same && size_of(both) < 1.4 * std::max(usual, size_of(group.box)) && distance <= nearest)
                best = &group, nearest = distance;
        }
        if (best != nullptr)
            join(*best, part);
        else
            groups.push_back(group_of(part));
    }
    std::erase_if(groups, [&](const Group& group) { return size_of(group.box) < 0.35 * usual; });

    // Rows from the top: groups that overlap the row's first digit by half its height; then from the left.
    std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.box.y < b.box.y; });
    for (auto row = groups.begin(); row != groups.end();) {
        const cv::Rect first = row->box;
        const auto in_row = [&](const Group& group) {
            const int over = std::min(first.br().y, group.box.br().y) - std::max(first.y, group.box.y);
            return over > 0.4 * std::min(first.height, group.box.height);
        };
        const auto end = std::stable_partition(row, groups.end(), in_row);
        std::sort(row, end, [](const Group& a, const Group& b) { return a.box.x < b.box.x; });
        row = end;
    }
    return groups;
}

}  // namespace knn::digit
