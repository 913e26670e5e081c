#include "app/report/page.h"

#include <algorithm>

#include "app/console/console.h"
#include "app/report/text.h"
#include "data/core/format.h"
#include "data/core/round_up.h"
#include "data/picture/picture.h"

namespace knn {

namespace {

/// Reduced by averaging rectangles of whole pixels, so that no side is too long.
Picture shrunk(const std::uint8_t* gray, int rows, int cols) {
    constexpr int max_side = 56;
    const int times = int(divide_up(std::max(rows, cols), max_side));
    Picture small{int(divide_up(rows, times)), int(divide_up(cols, times)), {}};
    for (int row = 0; row < rows; row += times)
        for (int col = 0; col < cols; col += times) {
            const int end_row = std::min(row + times, rows), end_col = std::min(col + times, cols);
            std::int64_t sum = 0;
            for (int y = row; y < end_row; ++y)
                for (int x = col; x < end_col; ++x)
                    sum += gray[std::int64_t{y} * cols + x];
            const std::int64_t pixels = std::int64_t{end_row - row} * (end_col - col);
            small.gray.push_back(static_cast<std::uint8_t>(sum / pixels));
        }
    return small;
}

/// Two pixels as one block character: each half set or not, or a shade if both halves agree.
std::string block(int upper, int lower) {
    constexpr int set = 96;
    const int mean = (upper + lower) / 2;
    if (upper >= set && lower >= set) return mean >= 176 ? "█" : "▓";
    if (upper >= set) return "▀";
    if (lower >= set) return "▄";
    return mean >= 32 ? "░" : " ";
}

std::string label_text(const Dataset& data, int label, const PageDigit& digit, bool color) {
    const bool is_right = label == digit.label;
    return styled(class_text(data.class_name(label)), is_right ? ansi::green : ansi::bold_red,
                  color && (is_right || label == digit.predicted));
}

/// The text next to the image: the votes, then the neighbors, nearest first.
std::vector<std::string> facts(const Evaluation& evaluation, const PageDigit& digit, bool color) {
    constexpr std::size_t max_neighbors = 10;
    const Dataset& data = *evaluation.data;
    const std::uint8_t* labels = data.train.labels.data();
    std::string votes = "votes      ";
    for (const VoteShare& one : digit.votes)
        votes += label_text(data, one.label, digit, color) + ": " + percent(one.share, 0) + "  ";
    votes.resize(votes.find_last_not_of(' ') + 1);
    const Measure measure = evaluation.method.neighbor_measure();
    const std::string distance = distance_name(evaluation.method);
    const std::size_t width = std::max<std::size_t>(distance.size() + 2, 18);
    const std::size_t all = digit.neighbors.size();
    const std::span<const Neighbor> nearest = digit.neighbors.first(std::min(all, max_neighbors));
    const auto plain_width = [&](int label) { return characters_of(label_text(data, label, digit, false)); };
    std::size_t label_width = 5;
    for (const Neighbor& neighbor : nearest)
        label_width = std::max(label_width, plain_width(labels[neighbor.index]));
    std::vector<std::string> lines = {
        votes, "",
        styled("neighbor   " + aligned_right("label", label_width) + aligned_right(distance, width),
               ansi::dim, color)};
    for (const Neighbor& neighbor : nearest) {
        const int label = labels[neighbor.index];
        const std::string number = '#' + std::to_string(neighbor.index);
        const std::size_t gap = label_width - plain_width(label);
        lines.push_back(number + std::string(11 - std::min<std::size_t>(number.size(), 10) + gap, ' ') +
                        label_text(data, label, digit, color) +
                        aligned_right(distance_text(measure, neighbor.distance, true), width));
    }
    if (all > max_neighbors)
        lines.push_back("and " + with_commas(std::int64_t(all - max_neighbors)) + " more");
    return lines;
}

}  // namespace

std::vector<std::string> block_lines(const std::uint8_t* gray, int rows, int cols) {
    Picture image = shrunk(gray, rows, cols);
    const auto width = static_cast<std::size_t>(image.cols);
    image.gray.resize(image.gray.size() + width);  // background below a last row alone
    std::vector<std::string> lines;
    for (int row = 0; row < image.rows; row += 2) {
        std::string line;
        for (std::size_t col = 0; col < width; ++col) {
            const std::uint8_t* pixel = image.gray.data() + static_cast<std::size_t>(row) * width + col;
            line += block(pixel[0], pixel[width]);
        }
        lines.push_back(line);
    }
    return lines;
}

std::string block_text(const Evaluation& evaluation, const Gallery& gallery, std::int64_t found, bool color) {
    const LabeledImages& test = evaluation.data->test;
    std::string text;
    std::int64_t position = 0;
    for (const std::int64_t image : gallery.images) {
        const PageDigit digit = page_digit(evaluation, image);
        const std::string place = with_commas(++position) + " of " + with_commas(found);
        text += (position > 1 ? "\n" : "") + styled('#' + std::to_string(image), ansi::bold, color) +
                "   true " + label_text(*evaluation.data, digit.label, digit, color) + "   predicted " +
                label_text(*evaluation.data, digit.predicted, digit, color) + "   confidence " +
                percent(digit.confidence, 0) + "   " + styled(place, ansi::dim, color) +
                (evaluation.pictures.empty() ? "" : "   " + harmless(evaluation.pictures[at(image)])) + "\n";
        const std::uint8_t* pixels = test.images().row(image);
        const auto lines = block_lines(pixels, test.rows, test.cols);
        const auto beside = facts(evaluation, digit, color);
        const std::string blank(static_cast<std::size_t>(shrunk(pixels, test.rows, test.cols).cols), ' ');
        for (std::size_t i = 0; i < std::max(lines.size(), beside.size()); ++i) {
            std::string line = i < lines.size() ? lines[i] : blank;
            if (i < beside.size() && !beside[i].empty()) line += "   " + beside[i];
            line.resize(line.find_last_not_of(' ') + 1);
            text += line + '\n';
        }
    }
    return text;
}

}  // namespace knn
