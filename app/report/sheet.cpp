#include "app/report/picture.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "app/report/canvas.h"
#include "app/report/text.h"
#include "data/core/format.h"
#include "data/core/round_up.h"

namespace knn {

namespace {

constexpr int columns = 14, rows = 12, min_columns = 8;  // the title needs some width
static_assert(sheet_digits == std::int64_t{columns} * rows);
constexpr double margin = 32, head = 104, tile = 84, cell_width = 100, cell_height = 138;
static_assert(sheet_width == 2 * margin + columns * cell_width - (cell_width - tile));
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

void draw_digit(Canvas& canvas, const Sheet& sheet, const SheetDigit& digit, double x, double y) {
    const double middle = x + tile / 2;
    canvas.image(digit.pixels, sheet.rows, sheet.cols, x, y, tile);
    draw_labels(canvas, digit.label, digit.other, middle, y + tile + 20);
    const std::string number = '#' + std::to_string(digit.index);
    canvas.text(number + "  " + fixed(100 * digit.share, 0) + "%", middle, y + tile + 36, 8, faint_ink,
                Side::center, 0.14);
}

std::string words_of(const Evaluation& evaluation, std::int64_t count, std::int64_t page) {
    const std::int64_t pages = sheet_pages(count);
    std::string words = counted(count, "digit");
    if (pages > 1) words = "page " + with_commas(page + 1) + " of " + with_commas(pages) + ", " + words;
    return words + ": true label, predicted label, index, confidence.  " + printable(evaluation.data->name) +
           ", k = " + std::to_string(evaluation.method.vote.k) + ", accuracy " +
           percent(evaluation.score.accuracy);
}

}  // namespace

std::int64_t sheet_pages(std::int64_t digits) {
    return std::max<std::int64_t>(1, divide_up(digits, sheet_digits));
}

std::vector<std::uint8_t> sheet_png(const Sheet& sheet) {
    const std::int64_t count = std::ssize(sheet.digits);
    const std::int64_t across = std::clamp<std::int64_t>(std::max(sheet.of, count), min_columns, columns);
    const std::int64_t down = std::max<std::int64_t>(1, divide_up(count, across));
    const double width = 2 * margin + double(across) * cell_width - (cell_width - tile);
    const double max_width = width - 2 * margin;
    Canvas canvas(width, head + double(down) * cell_height + margin / 2, 3);
    canvas.text(shortened(printable(sheet.title), 20, max_width), margin, margin + 22, 20, ink, Side::left,
                0.15);
    canvas.text(shortened(printable(sheet.words), 10, max_width), margin, margin + 46, 10, faint_ink,
                Side::left);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t row = i / across, col = i % across;
        draw_digit(canvas, sheet, sheet.digits[static_cast<std::size_t>(i)],
                   margin + double(col) * cell_width, head + double(row) * cell_height);
    }
    if (count == 0) canvas.text("There are none.", margin, head + 20, 12, faint_ink, Side::left);
    return canvas.png();
}

std::vector<std::uint8_t> sheet_png(const Evaluation& evaluation, const Gallery& gallery, std::int64_t page) {
    const LabeledImages& test = evaluation.data->test;
    const std::int64_t all = std::ssize(gallery.images), begin = page * sheet_digits;
    Sheet sheet{gallery.title, words_of(evaluation, all, page), test.rows, test.cols, {}, all};
    for (std::int64_t i = begin; i < std::min(begin + sheet_digits, all); ++i) {
        const std::int64_t image = gallery.images[static_cast<std::size_t>(i)];
        const Vote& vote = evaluation.found.votes[static_cast<std::size_t>(image)];
        sheet.digits.push_back({test.images().row(image), test.labels.data()[image], vote.label, image,
                                evaluation.confidence[static_cast<std::size_t>(image)]});
    }
    return sheet_png(sheet);
}

}  // namespace knn
