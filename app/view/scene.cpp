// The picture in the window of `view`, and what it has in common with that of `draw`.

#include "app/view/shown_window.h"

#include <algorithm>
#include <array>
#include <string>

#include "app/report/canvas.h"
#include "app/report/page.h"
#include "app/report/text.h"
#include "data/core/format.h"

namespace knn {

namespace {

const Color line_color = rgb(0xe3e8ed);
constexpr std::array viewer_hints = {"arrows, n, p: move", "0-9: one true label", "s: save", "h: help",
                                     "q: quit"};
constexpr double digit_top = 92, shown_side = 308;  // 11 pixels for each of MNIST's 28
constexpr double facts_left = window_margin + shown_side + 40, row_top = 448;
constexpr std::size_t max_neighbors = 10, max_votes = 6;
const Color right_bar = rgb(0x8ab6dc), wrong_bar = rgb(0xf2a05f), other_bar = rgb(0xc3ccd6);

const Color& ink_of(int label, const PageDigit& digit) {
    return label == digit.label ? right_ink : label == digit.predicted ? wrong_ink : faint_ink;
}

void draw_head(Canvas& canvas, const Evaluation& evaluation, const Viewer& viewer) {
    std::string place = with_commas(viewer.position()) + " of " + with_commas(viewer.count());
    if (viewer.filter()) place += ", true label " + *viewer.filter();
    std::string image = "Test image " + std::to_string(viewer.image());
    if (!evaluation.pictures.empty()) image = evaluation.pictures[static_cast<std::size_t>(viewer.image())];
    const double room = window_width - 2 * window_margin - Canvas::width_of(place, 14) - 24;
    canvas.text(shortened(image, 18, room), window_margin, 52, 18, ink, Side::left, 0.15);
    canvas.text(place, window_width - window_margin, 52, 14, ink, Side::right);
    const std::string where = evaluation.data->name + ", " + short_method_text(evaluation.method) +
                              ", accuracy " + percent(evaluation.score.accuracy);
    canvas.text(shortened(where, 9, window_width - 2 * window_margin), window_margin, 74, 9);
}

void draw_verdict(Canvas& canvas, const Dataset& data, const PageDigit& digit) {
    constexpr double big = 58, top = digit_top + 4, base = top + 32 + big;
    constexpr double second = facts_left + 230, third = facts_left + 440;
    canvas.text("true", facts_left, top + 10, 11);
    canvas.text("predicted", second, top + 10, 11);
    canvas.text("confidence", third, top + 10, 11);
    constexpr double min_arrow = 20, gap = 24, max_width = second - facts_left - gap - min_arrow - 28;
    const double from = facts_left + gap +
                        canvas.fitted(class_text(data.class_name(digit.label)), facts_left, base, big,
                                      max_width, 0.35, right_ink, Side::left, 0.12);
    canvas.arrow(from, base - 12, std::max(min_arrow, second - 28 - from), 34);
    canvas.fitted(class_text(data.class_name(digit.predicted)), second, base, big, third - second - gap, 0.35,
                  ink_of(digit.predicted, digit), Side::left, 0.12);
    canvas.fitted(short_percent(digit.confidence), third, base, 34, window_width - window_margin - third, 0.6,
                  ink, Side::left, 0.11);
}

void draw_votes(Canvas& canvas, const Dataset& data, int k, const PageDigit& digit) {
    double y = digit_top + 138;
    canvas.text("votes of " + std::to_string(k) + ' ' + noun(k, "neighbor"), facts_left, y, 11);
    const double label_width = data.classes.empty() ? 30 : 96;
    const double bar_left = facts_left + label_width + 14, bar_room = 460 - label_width;
    for (std::size_t i = 0; i < std::min(digit.votes.size(), max_votes); ++i) {
        const auto& [label, share] = digit.votes[i];
        y += 26;
        canvas.fitted(class_text(data.class_name(label)), facts_left + label_width, y, 12, label_width, 0.7,
                      ink_of(label, digit), Side::right, 0.16);
        const double length = std::max(2.0, bar_room * share);
        canvas.box(bar_left, y - 14, length, 16,
                   label == digit.label       ? right_bar
                   : label == digit.predicted ? wrong_bar
                                              : other_bar);
        canvas.text(percent(share, 0), bar_left + length + 10, y, 10, ink);
    }
    if (digit.votes.size() > max_votes)
        canvas.text("and " + std::to_string(digit.votes.size() - max_votes) + " other labels", bar_left,
                    y + 20, 9);
}

void draw_neighbors(Canvas& canvas, const Evaluation& evaluation, const PageDigit& digit) {
    const LabeledImages& train = evaluation.data->train;
    const std::size_t all = digit.neighbors.size(), count = std::min(all, max_neighbors);
    const Measure measure = evaluation.method.neighbor_measure();
    const std::string of_all = "the " + std::to_string(count) + " nearest of " +
                               with_commas(std::int64_t(all)) + " training images that vote, ";
    canvas.box(window_margin, row_top - 28, window_width - 2 * window_margin, 1, line_color);
    canvas.text((all > count ? of_all : "nearest training images, ") + "their labels and " +
                    distance_name(evaluation.method),
                window_margin, row_top, 11);
    const bool few = count <= 7;
    const double tile = few ? 112 : 78;
    const double step = (window_width - 2 * window_margin - tile) / double((few ? 7 : max_neighbors) - 1);
    for (std::size_t i = 0; i < count; ++i) {
        const Neighbor& neighbor = digit.neighbors[i];
        const double x = window_margin + double(i) * step, y = row_top + 18, middle = x + tile / 2;
        const int label = train.labels.data()[neighbor.index];
        canvas.image(train.images().row(neighbor.index), train.rows, train.cols, x, y, tile);
        canvas.fitted(class_text(evaluation.data->class_name(label)), middle, y + tile + 24, 15, tile, 0.6,
                      ink_of(label, digit), Side::center, 0.16);
        canvas.text(distance_text(measure, neighbor.distance, true), middle, y + tile + 42, 8, ink,
                    Side::center);
        canvas.text(std::string("#").append(std::to_string(neighbor.index)), middle, y + tile + 58, 8,
                    faint_ink, Side::center);
    }
}

void draw_help(Canvas& canvas) {
    using Line = std::pair<const char*, const char*>;
    constexpr std::array lines = {Line{"n, Right, Space", "the next digit"},
                                  Line{"p, Left", "the one before"},
                                  Line{"Page Down, Page Up", "ten further, ten back"},
                                  Line{"Home, End", "the first, the last"},
                                  Line{"0 to 9", "only this true label; again: all"},
                                  Line{"s", "save this picture in the current folder"},
                                  Line{"h", "this help"},
                                  Line{"q, Esc", "quit"}};
    constexpr double panel = 640, x = (window_width - panel) / 2, y = 120, line = 34;
    constexpr double panel_height = 84 + line * lines.size();
    canvas.box(x - 2, y - 2, panel + 4, panel_height + 4, faint_ink);
    canvas.box(x, y, panel, panel_height, paper);
    canvas.text("Keys", x + 32, y + 48, 18, ink, Side::left, 0.15);
    double base = y + 92;
    for (const auto& [keys, meaning] : lines) {
        canvas.text(keys, x + 32, base, 12, right_ink, Side::left, 0.15);
        canvas.text(meaning, x + 250, base, 12, ink);
        base += line;
    }
}

Canvas drawn(const Evaluation& evaluation, const Viewer& viewer) {
    Canvas canvas(window_width, window_height, 3);
    const LabeledImages& test = evaluation.data->test;
    const PageDigit digit = page_digit(evaluation, viewer.image());
    draw_head(canvas, evaluation, viewer);
    canvas.image(test.images().row(digit.index), test.rows, test.cols, window_margin, digit_top, shown_side);
    draw_verdict(canvas, *evaluation.data, digit);
    draw_votes(canvas, *evaluation.data, evaluation.method.vote.k, digit);
    draw_neighbors(canvas, evaluation, digit);
    return canvas;
}

}  // namespace

void draw_foot(Canvas& canvas, const std::string& message, std::span<const char* const> hints) {
    constexpr double base = window_height - 20;
    if (!message.empty())
        return canvas.text(shortened(message, 11, window_width - 2 * window_margin), window_margin, base, 11,
                           ink, Side::left, 0.15);
    double x = window_margin;
    for (const char* hint : hints) {
        canvas.text(hint, x, base, 10);
        x += Canvas::width_of(hint, 10) + 32;
    }
}

Frame draw_scene(const Evaluation& evaluation, const Viewer& viewer) {
    Canvas canvas = drawn(evaluation, viewer);
    canvas.box(window_margin, window_height - 46, window_width - 2 * window_margin, 1, line_color);
    draw_foot(canvas, viewer.message(), viewer_hints);
    if (viewer.help()) draw_help(canvas);
    const cv::Mat picture = canvas.picture();
    return {picture.rows, picture.cols, {picture.datastart, picture.dataend}};
}

std::vector<std::uint8_t> scene_png(const Evaluation& evaluation, const Viewer& viewer) {
    return png_of(drawn(evaluation, viewer).picture());
}

}  // namespace knn
