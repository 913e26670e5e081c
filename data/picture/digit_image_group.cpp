/// Chooses the parts of the one digit of a picture.

#include <algorithm>

#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

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

}  // namespace

double size_of(const cv::Rect& box) {
    return std::max(box.width, box.height);
}

double gap(const cv::Rect& a, const cv::Rect& b) {
    const int x = std::max({0, a.x - b.br().x, b.x - a.br().x});
    const int y = std::max({0, a.y - b.br().y, b.y - a.br().y});
    return std::max(x, y);
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

double reached_by_half(std::vector<Part> parts, double (*value)(const Part& part)) {
    std::sort(parts.begin(), parts.end(), [&](const Part& a, const Part& b) { return value(a) > value(b); });
    double total = 0, so_far = 0;
    for (const Part& part : parts)
        total += part.mass;
    for (const Part& part : parts)
        if ((so_far += part.mass) >= total / 2) return value(part);
    return 0;
}

bool is_stroke(const Part& part) {
    return part.pen < 0.6 * size_of(part.box);
}

bool is_border(const Part& part, cv::Size size) {
    const bool along = part.box.width > 0.9 * size.width || part.box.height > 0.9 * size.height;
    return part.edges > 0.5 * size_of(part.box) ||
           (along && part.edges > 0 && part.pen < 0.02 * size_of(part.box));
}

Group one_group(const Parts& found, cv::Size size, std::string& refused) {
    std::vector<Part> parts = found.parts;
    if (parts.empty()) {
        refused = found.speck_mass > 0 ? "there are only specks in the picture" : "no ink found";
        return {};
    }
    std::sort(parts.begin(), parts.end(),
              [&](const Part& a, const Part& b) { return worth(a, size) > worth(b, size); });
    Group group = group_of(parts.front());
    const double own = size_of(group.box);
    // A part may touch another one that is joined later; the larger of the two sets the scale.
    std::vector<Part> others_left(parts.begin() + 1, parts.end());
    for (bool found_one = true; found_one;) {
        found_one = false;
        for (auto part = others_left.begin(); part != others_left.end() && !found_one; ++part) {
            const double scale = std::max(own, std::min(size_of(part->box), 1.6 * own));
            if (is_border(*part, size) || !belongs(group, *part, 0.22 * scale) ||
                size_of(group.box | part->box) >= 2.2 * scale)
                continue;
            join(group, *part);
            others_left.erase(part);
            found_one = true;
        }
    }

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

}  // namespace knn::digit
