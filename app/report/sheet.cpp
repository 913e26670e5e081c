#include "app/report/sheet.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "app/report/canvas.h"
#include "data/core/format.h"
#include "data/core/round_up.h"
#include "data/core/words.h"

namespace knn {

namespace {

constexpr int columns = 14, rows = 12, min_columns = 8;  // the title needs some width
constexpr double margin = 32, head = 104, tile = 84, cell_width = 100, cell_height = 138;
const Color right_ink = rgb(0x1f5fa6), wrong_ink = rgb(0xb8390d);

/// "4 → 9", centered at x.
void draw_labels(Canvas& canvas, int truth, int predicted, double x, double y) {
    constexpr double height = 12, arrow = 14, gap = 6;
    const std::string from = std::to_string(truth), to = std::to_string(predicted);
    const double from_width = Canvas::width_of(from, height), to_width = Canvas::width_of(to, height);
    x -= (from_width + gap + arrow + gap + to_width) / 2;
    canvas.text(from, x, y, height, right_ink, Side::left, 0.16);
    canvas.arrow(x + from_width + gap, y, arrow, height, faint_ink);
    canvas.text(to, x + from_width + gap + arrow + gap, y, height, truth == predicted ? right_ink : wrong_ink,
                Side::left, 0.16);
}

void draw_digit(Canvas& canvas, const Evaluation& evaluation, std::int64_t image, double x, double y) {
    const LabeledImages& test = evaluation.data->test;
    const Vote& vote = evaluation.found.votes[static_cast<std::size_t>(image)];
    const double middle = x + tile / 2;
    canvas.image(test.images().row(image), test.rows, test.cols, x, y, tile);
    draw_labels(canvas, test.labels.data()[image], vote.label, middle, y + tile + 20);
    const std::string number = '#' + std::to_string(image);
    canvas.text(number + "  " + fixed(100 * evaluation.confidence[static_cast<std::size_t>(image)], 0) + "%",
                middle, y + tile + 36, 8, faint_ink, Side::center, 0.14);
}

void draw_head(Canvas& canvas, const Evaluation& evaluation, const Gallery& gallery, std::int64_t page,
               double width) {
    const double max_width = width - 2 * margin;
    canvas.text(shortened(printable(gallery.title), 20, max_width), margin, margin + 22, 20, ink, Side::left,
                0.15);
    const std::int64_t count = std::ssize(gallery.images), pages = sheet_pages(count);
    std::string words = with_commas(count) + ' ' + noun(count, "digit");
    if (pages > 1) words = "page " + with_commas(page + 1) + " of " + with_commas(pages) + ", " + words;
    words += ": true label, predicted label, index, confidence.  " + printable(evaluation.data->name) +
             ", k = " + std::to_string(evaluation.method.vote.k) + ", accuracy " +
             percent(evaluation.score.accuracy);
    canvas.text(shortened(words, 10, max_width), margin, margin + 46, 10, faint_ink, Side::left);
}

}  // namespace

std::int64_t sheet_pages(std::int64_t digits) {
    constexpr std::int64_t on_page = std::int64_t{columns} * rows;
    return std::max<std::int64_t>(1, divide_up(digits, on_page));
}

std::vector<std::uint8_t> sheet_png(const Evaluation& evaluation, const Gallery& gallery, std::int64_t page) {
    const std::int64_t on_page = columns * rows, begin = page * on_page;
    const std::int64_t count = std::min(on_page, std::ssize(gallery.images) - begin);
    const std::int64_t across = std::clamp<std::int64_t>(std::ssize(gallery.images), min_columns, columns);
    const std::int64_t down = std::max<std::int64_t>(1, divide_up(count, across));
    const double width = 2 * margin + double(across) * cell_width - (cell_width - tile);
    Canvas canvas(width, head + double(down) * cell_height + margin / 2, 3);
    draw_head(canvas, evaluation, gallery, page, width);
    for (std::int64_t i = 0; i < count; ++i)
        draw_digit(canvas, evaluation, gallery.images[static_cast<std::size_t>(begin + i)],
                   margin + double(i % across) * cell_width, head + double(i / across) * cell_height);
    if (count <= 0) canvas.text("There are none.", margin, head + 20, 12, faint_ink, Side::left);
    return canvas.png();
}

}  // namespace knn
