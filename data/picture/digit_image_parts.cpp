/// Separates ink from paper and from the lines of ruled paper and tables, finds connected components.

#include <algorithm>
#include <array>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <vector>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/transfer.h"
#include "data/picture/digit_image_steps.h"

namespace knn::digit {

std::vector<Component> components_of(const cv::Mat& mask, cv::Mat& labels) {
    cv::Mat stats, centers;
    const int count = cv::connectedComponentsWithStats(mask, labels, stats, centers, 8);
    std::vector<Component> all;
    double boxes = 0;
    for (int i = 1; i < count; ++i) {
        const int* stat = stats.ptr<int>(i);
        all.push_back({{stat[0], stat[1], stat[2], stat[3]}, i, stat[cv::CC_STAT_AREA]});
        boxes += double(stat[2]) * stat[3];
    }
    constexpr double most_overlap = 6;  // photographed pages have up to 1.3
    if (boxes > most_overlap * double(mask.total()))
        throw DataError("has too many marks within one another; expected digits on paper");
    return all;
}

namespace {

/// Before each mark of a loop over many. Throws DataError, Interrupted.
void check_marks(std::size_t before) {
    throw_if_stopped();
    if (before >= most_marks)
        throw DataError("has more than " + with_commas(std::int64_t{most_marks}) +
                        " marks; expected digits on paper");
}

constexpr std::size_t few_lines = 4;  ///< more than the bars of a digit

/// What counts as a horizontal line; lengths in pixels.
struct LineRule {
    int piece;         ///< length of straight ink that is a piece of a line
    int thick;         ///< ink higher than this is a stroke that crosses the line
    double thickness;  ///< most of a line, on average
    double few, many;  ///< least width of a line; `many` if there are at least few_lines as wide as that
    int bridge;        ///< height of the gaps to close in strokes where a line was
};

/// A thin and nearly straight horizontal line.
struct Line {
    cv::Rect box;
    cv::Mat ink;  ///< its pixels within the box
};

std::vector<Line> lines_in(const cv::Mat& mask, const LineRule& rule) {
    cv::Mat runs, thick, joined, labels;
    throw_if_stopped();
    cv::morphologyEx(mask, runs, cv::MORPH_OPEN, cv::Mat::ones(1, rule.piece, CV_8U));
    // A digit's bar is thicker than a line; a shadow edge across the lines would connect them all.
    throw_if_stopped();
    cv::morphologyEx(mask, thick, cv::MORPH_OPEN, cv::Mat::ones(rule.thick, 1, CV_8U));
    runs &= ~thick;
    throw_if_stopped();
    // Slanted lines are steps; noise leaves gaps.
    cv::dilate(runs, joined, cv::Mat::ones(3, rule.piece / 2 | 1, CV_8U));
    std::vector<Line> few, many;
    for (const auto& [box, label, area] : components_of(joined, labels)) {
        if (box.width < rule.many) continue;
        throw_if_stopped();
        const Line line{box, (labels(box) == label) & runs(box)};
        if (double(cv::countNonZero(line.ink)) / box.width > rule.thickness) continue;
        if (box.width >= rule.few) few.push_back(line);
        many.push_back(line);
    }
    return many.size() >= few_lines ? many : few;
}

cv::Mat drawn(const std::vector<Line>& lines, cv::Size size) {
    cv::Mat all = cv::Mat::zeros(size, CV_8U);
    for (const Line& line : lines)
        all(line.box).setTo(255, line.ink);
    return all;
}

/// `mask` without horizontal lines, except where a stroke crosses them.
cv::Mat without(const std::vector<Line>& lines, const cv::Mat& mask, const LineRule& rule) {
    if (lines.empty()) return mask;
    cv::Mat wide, bridged;
    cv::dilate(drawn(lines, mask.size()), wide, cv::Mat::ones(3, 1, CV_8U));
    throw_if_stopped();
    const cv::Mat rest = mask & ~wide;
    // Reconnects what remains above and below a line.
    cv::morphologyEx(rest, bridged, cv::MORPH_CLOSE, cv::Mat::ones(rule.bridge, 1, CV_8U));
    return rest | (bridged & wide & mask);
}

/// The lines of both directions; those of `down` are in the transposed mask.
struct Lines {
    LineRule rule, turned_rule;
    std::vector<Line> across, down;

    Lines(const cv::Mat& mask, const LineRule& rule_, const LineRule& turned_rule_)
        : rule(rule_),
          turned_rule(turned_rule_),
          across(lines_in(mask, rule)),
          down(lines_in(without(across, mask, rule).t(), turned_rule)) {}

    /// Their pixels.
    cv::Mat all(cv::Size size) const {
        return drawn(across, size) | drawn(down, cv::Size(size.height, size.width)).t();
    }

    /// Erases them; returns their pixels.
    cv::Mat erase(cv::Mat& mask) const {
        const cv::Mat all = this->all(mask.size());
        mask = without(down, without(across, mask, rule).t(), turned_rule).t();
        return all;
    }
};

cv::Rect turned(const cv::Rect& box) {
    return {box.y, box.x, box.height, box.width};
}

/// The box of the ink that lines leave, without pieces of these lines.
cv::Rect box_of_rest(const cv::Mat& rest, const Lines& lines) {
    cv::Mat labels;
    const int margin = 2 + std::max(rest.rows, rest.cols) / 50;
    const auto in = [&](const cv::Rect& box, const cv::Rect& line) {
        const cv::Rect wide = line + cv::Size(2 * margin, 2 * margin) - cv::Point(margin, margin);
        return (box & wide) == box;
    };
    cv::Rect all;
    for (const Component& one : components_of(rest, labels)) {
        const cv::Rect& box = one.box;
        const bool piece = std::any_of(lines.across.begin(), lines.across.end(),
                                       [&](const Line& line) { return in(box, line.box); }) ||
                           std::any_of(lines.down.begin(), lines.down.end(),
                                       [&](const Line& line) { return in(box, turned(line.box)); });
        if (!piece && std::max(box.width, box.height) >= 0.2 * std::max(rest.rows, rest.cols)) all |= box;
    }
    return all;
}

/// Whether a horizontal line is a stroke of a digit that fills the picture. The lines of paper run from border to border;
/// those of a frame extend beyond the ink within it at both ends.
bool is_stroke_of_digit(const Line& line, const cv::Rect& rest, int width) {
    const cv::Rect ink = cv::boundingRect(line.ink) + line.box.tl();
    const int left = ink.x, right = ink.br().x;
    if (left <= 0.01 * width && right >= 0.99 * width) return false;
    const double margin = 0.1 * ink.width;
    return rest.empty() || rest.x - left <= margin || right - rest.br().x <= margin;
}

/// Erases rules along the upper and the lower border, as thick as they may be, that a crop of a form has kept of its box:
/// rows of ink from side to side with paper next to them. A bar of a digit that is cropped as tightly has its stroke there.
void erase_border_rules(cv::Mat& mask) {
    const int reach = int(0.15 * mask.rows);
    const auto share = [&](int y) { return double(cv::countNonZero(mask.row(y))) / mask.cols; };
    for (const bool from_top : {true, false}) {
        const auto row = [&](int i) { return from_top ? i : mask.rows - 1 - i; };
        int begin = 0;
        while (begin < reach && share(row(begin)) < 0.97)
            ++begin;
        int end = begin;
        while (end < reach && share(row(end)) > 0.1)
            ++end;
        if (begin < end && end < reach)
            for (int i = 0; i < end; ++i)
                mask.row(row(i)).setTo(0);
    }
}

LineRule rule_of_picture(cv::Size size) {
    return {std::max(12, size.width / 25),
            int(0.006 * size.height) + 2,
            0.025 * size.height + 2,
            0.85 * size.width,
            0.25 * size.width,
            2 * std::max(3, size.height / 100) + 1};
}

/// Erases lines across the picture, as in notebooks; returns the erased pixels.
cv::Mat erase_ruled_lines(cv::Mat& mask) {
    cv::Mat inner = mask.clone();
    erase_border_rules(inner);
    inner = inner.t();
    erase_border_rules(inner);
    if (cv::countNonZero(inner) > 0) mask = inner.t();
    Lines lines(mask, rule_of_picture(mask.size()), rule_of_picture(cv::Size(mask.rows, mask.cols)));
    cv::Mat rest = mask.clone();
    cv::Mat erased = lines.erase(rest);
    if (lines.across.size() < few_lines && lines.down.size() < few_lines) {
        const cv::Rect box = box_of_rest(rest, lines);
        std::erase_if(lines.across,
                      [&](const Line& line) { return is_stroke_of_digit(line, box, mask.cols); });
        std::erase_if(lines.down,
                      [&](const Line& line) { return is_stroke_of_digit(line, turned(box), mask.rows); });
        rest = mask.clone();
        erased = lines.erase(rest);
    }
    mask = rest;
    return erased;
}

/// Those that are longer than three digits of `size` pixels: of ruled paper and tables.
Lines page_lines(const cv::Mat& mask, double size) {
    // The bars of digits are shorter than 1.2 digits, and their neighbors' do not continue them.
    const LineRule rule{int(1.2 * size), int(0.18 * size) + 2,   0.18 * size + 1, 3 * size,
                        3 * size,        2 * int(0.1 * size) + 1};
    return {mask, rule, rule};
}

constexpr double min_contrast = 0.07;  // pencil on gray paper; the texture of paper is below
constexpr double share_of_peak = 0.4;  // edge of a part: close to the edge of the stroke, blurred or not
constexpr double peak_reach = 0.12;    // how far the peak of a part reaches, of its size
constexpr double faintest = 0.35;      // peak of the faintest stroke of a part, of the part's

/// Value at a share of the histogram of `amount` where `labels` is `label`.
double percentile(const cv::Mat& amount, const cv::Mat& labels, const cv::Rect& box, int label,
                  double share) {
    std::array<int, 256> counts{};
    int total = 0;
    for_bands(box.height, [&](const cv::Range& rows) {
        for (int y = box.y + rows.start; y < box.y + rows.end; ++y)
            for (int x = box.x; x < box.br().x; ++x)
                if (labels.at<int>(y, x) == label) {
                    ++counts[static_cast<std::size_t>(255 * amount.at<float>(y, x))];
                    ++total;
                }
    });
    int left = int(share * total);
    for (std::size_t level = 0; level < counts.size(); ++level)
        if ((left -= counts[level]) < 0) return (double(level) + 0.5) / 255;
    return 1;
}

/// A bound on the darkness of nearly all ink of `lines`.
double darkness(const cv::Mat& amount, const cv::Mat& lines) {
    cv::Mat labels;
    lines.convertTo(labels, CV_32S, 1 / 255.0);
    return percentile(amount, labels, {0, 0, lines.cols, lines.rows}, 1, 0.9);
}

Part measured(const cv::Mat& amount, const cv::Mat& labels, const cv::Rect& box, int label) {
    Part part;
    part.box = box;
    part.label = label;
    part.peak = percentile(amount, labels, box, label, 0.98);
    cv::Mat own = labels(box) == label, padded, depth;
    part.area = cv::countNonZero(own);
    part.mass = cv::mean(amount(box), own)[0] * part.area;
    cv::copyMakeBorder(own, padded, 1, 1, 1, 1, cv::BORDER_CONSTANT, 0);
    cv::distanceTransform(padded, depth, cv::DIST_L2, 3);
    // The mean depth of a stroke of width w is w/4.
    part.pen = 4 * cv::mean(depth, padded)[0] - 1;
    const auto edge = [&](bool at, const cv::Mat& line) { part.edges += at ? cv::countNonZero(line) : 0; };
    edge(box.y == 0, own.row(0));
    edge(box.x == 0, own.col(0));
    edge(box.br().y == labels.rows, own.row(own.rows - 1));
    edge(box.br().x == labels.cols, own.col(own.cols - 1));
    return part;
}

/// Keeps the pixels of each component that are darker than a share of its own peak: pencil next to a black
/// mark is still ink, the halo of a black mark is not. If the pen is darker than the `lines` of the paper,
/// pixels no darker than these belong to a line. `labels` (CV_32S): the components.
cv::Mat sharpened(const cv::Mat& amount, const cv::Mat& mask, double lines, cv::Mat& labels) {
    cv::Mat result = cv::Mat::zeros(mask.size(), CV_8U);
    std::size_t marks = 0;
    for (const auto& [box, label, area] : components_of(mask, labels)) {
        if (area < 6) continue;
        check_marks(marks++);
        const double peak = percentile(amount, labels, box, label, 0.98);
        cv::Mat own = cv::Mat::zeros(box.size(), CV_32F);
        amount(box).copyTo(own, labels(box) == label);
        const double of_line = peak > 1.2 * lines ? std::min(1.2 * lines, 0.6 * peak) : 0;
        const cv::Mat peaks = local_peak(own, box, peak);
        cv::Mat darker = result(box);
        for_bands(darker.rows, [&](const cv::Range& rows) {
            const cv::Mat least = cv::max(share_of_peak * peaks.rowRange(rows), of_line);
            darker.rowRange(rows).setTo(255, own.rowRange(rows) > least);
        });
    }
    return result;
}

/// The lines of a page in all its ink. What is faint beside digits is not in the mask that parts are made of: there are pieces of
/// these lines far from the digits alone.
class PaperLines {
  public:
    PaperLines(const cv::Mat& amount, const cv::Mat& all, double size)
        : lines_(page_lines(all, size).all(all.size())), darkest_(1.2 * darkness(amount, lines_)) {
        cv::dilate(lines_, lines_, cv::Mat::ones(3, 3, CV_8U));
    }

    /// Whether a part is a piece of them.
    bool have(const Part& part, const cv::Mat& labels) const {
        constexpr double least = 0.8;
        return part.peak <= darkest_ &&
               cv::countNonZero((labels(part.box) == part.label) & lines_(part.box)) >= least * part.area;
    }

  private:
    cv::Mat lines_;
    double darkest_;
};

/// The label of a part, in labels of a mask that has its pixels too.
int label_in(const cv::Mat& labels, const Parts& parts, const Part& part) {
    const int* top = parts.labels.ptr<int>(part.box.y);
    return labels.at<int>(part.box.y,
                          int(std::find(top + part.box.x, top + part.box.br().x, part.label) - top));
}

/// Sets Part::of_table. `mask`: the ink with the `lines`.
void mark_tables(const cv::Mat& mask, const cv::Mat& lines, Parts& parts) {
    cv::Mat labels;
    const std::vector<Component> wholes = components_of(mask, labels);
    std::vector<char> has_line(wholes.size() + 1), is_table(wholes.size() + 1);
    for (int y = 0; y < mask.rows; ++y)
        for (int x = 0; x < mask.cols; ++x)
            if (lines.at<std::uint8_t>(y, x) != 0) has_line[std::size_t(labels.at<int>(y, x))] = 1;
    std::vector<int> whole_of;
    for (const Part& part : parts.parts)
        whole_of.push_back(label_in(labels, parts, part));
    for (const auto& [box, label, area] : wholes) {
        if (has_line[std::size_t(label)] == 0) continue;
        throw_if_stopped();
        int held = 0;
        for (std::size_t i = 0; i < whole_of.size(); ++i)
            held += whole_of[i] != label && (parts.parts[i].box & box) == parts.parts[i].box;
        is_table[std::size_t(label)] = held >= 4;
    }
    for (std::size_t i = 0; i < whole_of.size(); ++i)
        parts.parts[i].of_table = is_table[std::size_t(whole_of[i])] != 0;
}

}  // namespace

cv::Mat local_peak(const cv::Mat& own, const cv::Rect& box, double peak) {
    const double reach = peak_reach * size_of(box), least = faintest * peak;
    const int step = std::max(1, int(reach / 3));
    cv::Mat small((own.rows + step - 1) / step, (own.cols + step - 1) / step, CV_32F, cv::Scalar(least));
    for_bands(own.rows, [&](const cv::Range& rows) {
        for (int y = rows.start; y < rows.end; ++y) {
            const float* from = own.ptr<float>(y);
            float* to = small.ptr<float>(y / step);
            for (int x = 0; x < own.cols; ++x)
                to[x / step] = std::max(to[x / step], from[x]);
        }
    });
    const int width = 2 * int(std::ceil(reach / step)) + 1;
    cv::dilate(small, small, cv::Mat::ones(width, width, CV_8U));
    cv::GaussianBlur(small, small, {}, 1);
    cv::Mat result;
    cv::resize(small, result, own.size(), 0, 0, cv::INTER_LINEAR);
    for_bands(own.rows, [&](const cv::Range& rows) {
        cv::Mat band = result.rowRange(rows);
        cv::min(band, peak, band);
    });
    return result;
}

Parts find_parts(const Ink& ink, double size) {
    const double least = std::max(min_contrast, 4.5 * ink.noise);
    const cv::Mat all = ink.amount > least;
    cv::Mat wholes, mask = sharpened(ink.amount, all, 0, wholes);
    erase_boxes(mask);
    const cv::Mat before = mask;
    const cv::Mat lines = size > 0 ? page_lines(mask, size).erase(mask) : erase_ruled_lines(mask);
    const std::optional<PaperLines> of_paper =
        size > 0 ? std::optional<PaperLines>({ink.amount, all, size}) : std::nullopt;
    // A shadow edge across the lines connects everything, and the peak is then not the pen's.
    if (cv::countNonZero(lines) > 0) mask = sharpened(ink.amount, mask, darkness(ink.amount, lines), wholes);
    Parts result;
    const double speck = size > 0 ? 0.003 * size * size : 12 + 1e-5 * double(mask.total());
    for (const auto& [box, label, area] : components_of(mask, result.labels)) {
        if (area < speck) {
            result.speck_mass += area;
            continue;
        }
        check_marks(result.parts.size());
        Part part = measured(ink.amount, result.labels, box, label);
        if (of_paper && of_paper->have(part, result.labels)) continue;
        part.whole = label_in(wholes, result, part);
        result.parts.push_back(part);
    }
    if (size == 0 && cv::countNonZero(lines) > 0) mark_tables(before, lines, result);
    return result;
}

}  // namespace knn::digit
