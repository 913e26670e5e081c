#include "app/view/viewer.h"

#include <algorithm>
#include <array>
#include <string>

#include "app/report/canvas.h"
#include "app/report/distance.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

constexpr double width = 1000, height = 710, margin = 36;
constexpr double digit_top = 92, digit_side = 308;  // 11 pixels for each of MNIST's 28
constexpr double facts_left = margin + digit_side + 40, row_top = 448;
constexpr std::size_t max_neighbors = 10, max_votes = 6;
const Color right_ink = rgb(0x1f5fa6), wrong_ink = rgb(0xb8390d), line_color = rgb(0xe3e8ed);
const Color right_bar = rgb(0x8ab6dc), wrong_bar = rgb(0xf2a05f), other_bar = rgb(0xc3ccd6);

/// Labels of the digit shown, which determine the color of all other labels.
struct Labels {
    int truth, predicted;

    const Color& color(int label) const {
        return label == truth ? right_ink : label == predicted ? wrong_ink : faint_ink;
    }
    const Color& bar(int label) const {
        return label == truth ? right_bar : label == predicted ? wrong_bar : other_bar;
    }
};

void draw_head(Canvas& canvas, const Evaluation& evaluation, const Viewer& viewer) {
    std::string place = with_commas(viewer.position()) + " of " + with_commas(viewer.count());
    if (viewer.filter()) place += ", true label " + std::to_string(*viewer.filter());
    canvas.text("Test image " + std::to_string(viewer.image()), margin, 52, 18, ink, Side::left, 0.15);
    canvas.text(place, width - margin, 52, 14, ink, Side::right);
    const std::string where = printable(evaluation.data->name) +
                              ", k = " + std::to_string(evaluation.method.vote.k) + ", accuracy " +
                              percent(evaluation.score.accuracy);
    canvas.text(shortened(where, 9, width - 2 * margin), margin, 74, 9, faint_ink, Side::left);
}

void draw_verdict(Canvas& canvas, const Labels& labels, double confidence) {
    constexpr double big = 58, top = digit_top + 4, base = top + 32 + big;
    const double second = facts_left + 230, third = facts_left + 440;
    canvas.text("true", facts_left, top + 10, 11, faint_ink, Side::left);
    canvas.text("predicted", second, top + 10, 11, faint_ink, Side::left);
    canvas.text("confidence", third, top + 10, 11, faint_ink, Side::left);
    const std::string truth = std::to_string(labels.truth);
    canvas.text(truth, facts_left, base, big, right_ink, Side::left, 0.12);
    const double from = facts_left + Canvas::width_of(truth, big) + 24;
    canvas.arrow(from, base - 12, std::max(20.0, second - 28 - from), 34, faint_ink);
    canvas.text(std::to_string(labels.predicted), second, base, big, labels.color(labels.predicted),
                Side::left, 0.12);
    canvas.text(fixed(100 * confidence, 0) + "%", third, base, 34, ink, Side::left, 0.11);
}

void draw_votes(Canvas& canvas, const Evaluation& evaluation, const Viewer& viewer, const Labels& labels) {
    const auto shares = vote_shares(evaluation, viewer.image());
    double y = digit_top + 138;
    canvas.text("votes of " + std::to_string(evaluation.method.vote.k) + ' ' +
                    noun(evaluation.method.vote.k, "neighbor"),
                facts_left, y, 11, faint_ink, Side::left);
    constexpr double bar_left = facts_left + 44, bar_room = 430;
    for (std::size_t i = 0; i < std::min(shares.size(), max_votes); ++i) {
        y += 26;
        canvas.text(std::to_string(shares[i].label), facts_left + 30, y, 12, labels.color(shares[i].label),
                    Side::right, 0.16);
        const double length = std::max(2.0, bar_room * shares[i].share);
        canvas.box(bar_left, y - 14, length, 16, labels.bar(shares[i].label));
        canvas.text(percent(shares[i].share, 0), bar_left + length + 10, y, 10, ink, Side::left);
    }
    if (shares.size() > max_votes)
        canvas.text("and " + std::to_string(shares.size() - max_votes) + " other labels", bar_left, y + 20, 9,
                    faint_ink, Side::left);
}

void draw_neighbors(Canvas& canvas, const Evaluation& evaluation, const Viewer& viewer,
                    const Labels& labels) {
    const LabeledImages& train = evaluation.data->train;
    const auto nearest = evaluation.found.neighbors.row(viewer.image());
    const std::size_t count = std::min(nearest.size(), max_neighbors);
    const Measure measure = evaluation.method.neighbor_measure();
    const std::string what = "their labels and " + distance_name(evaluation.method);
    std::string words = "nearest training images, " + what;
    if (nearest.size() > count)
        words = "the " + std::to_string(count) + " nearest of " + with_commas(std::ssize(nearest)) +
                " training images that vote, " + what;
    canvas.box(margin, row_top - 28, width - 2 * margin, 1, line_color);
    canvas.text(words, margin, row_top, 11, faint_ink, Side::left);
    const bool few = count <= 7;
    const double tile = few ? 112 : 78;
    const double step = (width - 2 * margin - tile) / double((few ? 7 : max_neighbors) - 1);
    for (std::size_t i = 0; i < count; ++i) {
        const double x = margin + double(i) * step, y = row_top + 18, middle = x + tile / 2;
        const int label = train.labels.data()[nearest[i].index];
        canvas.image(train.images().row(nearest[i].index), train.rows, train.cols, x, y, tile);
        canvas.text(std::to_string(label), middle, y + tile + 24, 15, labels.color(label), Side::center,
                    0.16);
        canvas.text(distance_text(measure, nearest[i].distance, true), middle, y + tile + 42, 8, ink,
                    Side::center);
        canvas.text(std::string("#").append(std::to_string(nearest[i].index)), middle, y + tile + 58, 8,
                    faint_ink, Side::center);
    }
}

void draw_foot(Canvas& canvas, const Viewer& viewer) {
    constexpr double base = height - 20;
    canvas.box(margin, base - 26, width - 2 * margin, 1, line_color);
    if (!viewer.message().empty())
        canvas.text(shortened(printable(viewer.message()), 11, width - 2 * margin), margin, base, 11, ink,
                    Side::left, 0.15);
    else
        for (double x = margin; const char* hint : {"arrows, n, p: move", "0-9: one true label", "s: save",
                                                    "h: help", "q: quit"}) {
            canvas.text(hint, x, base, 10, faint_ink, Side::left);
            x += Canvas::width_of(hint, 10) + 32;
        }
}

void draw_help(Canvas& canvas) {
    struct Line {
        const char *keys, *meaning;
    };
    constexpr std::array lines = {Line{"n, Right, Space", "the next digit"},
                                  Line{"p, Left", "the one before"},
                                  Line{"Page Down, Page Up", "ten further, ten back"},
                                  Line{"Home, End", "the first, the last"},
                                  Line{"0 to 9", "only this true label; again: all"},
                                  Line{"s", "save this picture in the current folder"},
                                  Line{"h", "this help"},
                                  Line{"q, Esc", "quit"}};
    constexpr double panel = 640, x = (width - panel) / 2, y = 120, line = 34;
    constexpr double panel_height = 84 + line * lines.size();
    canvas.box(x - 2, y - 2, panel + 4, panel_height + 4, faint_ink);
    canvas.box(x, y, panel, panel_height, paper);
    canvas.text("Keys", x + 32, y + 48, 18, ink, Side::left, 0.15);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const double base = y + 92 + line * double(i);
        canvas.text(lines[i].keys, x + 32, base, 12, right_ink, Side::left, 0.15);
        canvas.text(lines[i].meaning, x + 250, base, 12, ink, Side::left);
    }
}

Canvas drawn(const Evaluation& evaluation, const Viewer& viewer) {
    Canvas canvas(width, height, 3);
    const LabeledImages& test = evaluation.data->test;
    const std::int64_t image = viewer.image();
    const Vote& vote = evaluation.found.votes[static_cast<std::size_t>(image)];
    const Labels labels{test.labels.data()[image], vote.label};
    draw_head(canvas, evaluation, viewer);
    canvas.image(test.images().row(image), test.rows, test.cols, margin, digit_top, digit_side);
    draw_verdict(canvas, labels, evaluation.confidence[static_cast<std::size_t>(image)]);
    draw_votes(canvas, evaluation, viewer, labels);
    draw_neighbors(canvas, evaluation, viewer, labels);
    return canvas;
}

}  // namespace

Frame draw_scene(const Evaluation& evaluation, const Viewer& viewer) {
    Canvas canvas = drawn(evaluation, viewer);
    draw_foot(canvas, viewer);
    if (viewer.help()) draw_help(canvas);
    const cv::Mat picture = canvas.picture();
    return {picture.rows, picture.cols, {picture.datastart, picture.dataend}};
}

std::vector<std::uint8_t> scene_png(const Evaluation& evaluation, const Viewer& viewer) {
    return drawn(evaluation, viewer).png();
}

}  // namespace knn
