#include "app/report/page.h"

#include <array>
#include <cmath>

#include "app/report/canvas.h"
#include "app/report/text.h"
#include "data/core/format.h"
#include "data/file/transfer.h"

namespace knn {

namespace {

using Counts = std::vector<std::vector<std::int64_t>>;

const Color empty = rgb(0xf2f4f6);

using Ramp = std::array<int, 4>;
constexpr Ramp right_ramp = {0xd7e6f4, 0x8ab6dc, 0x3f7fbd, 0x1a4a86};
constexpr Ramp wrong_ramp = {0xfdebd8, 0xfcbd83, 0xee7b33, 0xb8390d};

Color color_at(const Ramp& ramp, double t) {
    const double place = std::clamp(t, 0.0, 1.0) * double(ramp.size() - 1);
    const std::size_t from = std::min(static_cast<std::size_t>(place), ramp.size() - 2);
    const double share = place - double(from);
    return rgb(ramp[from]) * (1 - share) + rgb(ramp[from + 1]) * share;
}

/// The square root makes single errors visible next to the hundreds on the diagonal.
double strength(std::int64_t count, std::int64_t most) {
    return most > 0 ? std::sqrt(double(count) / double(most)) : 0;
}

struct Layout {
    static constexpr double margin = 36, top = 152, bar = 16, beside = 120;
    static constexpr double max_label_width = 120;  ///< of names
    int classes;
    double cell, gap;
    double left = 106, below = 92, max_label_height = 16;
    bool are_upward = false;  ///< labels of columns, which are wider than cells
    double width, height;
    double count_height = 0;  ///< of the numbers in the cells; 0: cells too small
    int label_step = 1;       ///< classes per label

    explicit Layout(const Score& score, std::int64_t most) : classes(int(score.labels.size())) {
        cell = std::clamp(std::floor(680.0 / std::max(classes, 1)), 3.0, 170.0);
        gap = cell >= 30 ? 2 : cell >= 8 ? 1 : 0;
        if (!score.classes.empty()) {
            max_label_height = 12;
            double widest = 0;
            for (const std::uint8_t label : score.labels)
                widest = std::max(widest, Canvas::width_of(label_of(score, label), label_height()));
            are_upward = widest > cell - 6;
            left = std::max(left, margin + 14 + 12 + 12 + widest);  // beside "true"
            if (are_upward) below += widest;
        }
        width = left + std::max(cell * classes, 340.0) + beside;  // space for the title
        height = top + std::max(cell * classes, 170.0) + below;   // space for the scales

        const double fits = 0.8 * cell / Canvas::width_of(std::to_string(most), 1);
        count_height = std::min({0.3 * cell, fits, 18.0});
        if (count_height < 7) count_height = 0;
        const double label_width = are_upward ? label_height()
                                              : Canvas::width_of("0", label_height()) * (classes > 100  ? 3
                                                                                         : classes > 10 ? 2
                                                                                                        : 1);
        for (const int step : {1, 2, 5, 10, 20, 50})
            if (label_step = step; step * cell >= label_width + 6) break;
    }

    double x(std::size_t column) const { return left + double(column) * cell; }
    double y(std::size_t row) const { return top + double(row) * cell; }
    double label_height() const { return std::clamp(0.26 * cell, 8.0, max_label_height); }
    std::string label_of(const Score& score, std::uint8_t label) const {
        return shortened(class_text(score.class_name(label)), label_height(), max_label_width);
    }
};

void draw_title(Canvas& canvas, const Layout& at, const Evaluation& evaluation) {
    const auto line = [&](const std::string& text, double y, double height, const Color& color,
                          double stroke) {
        canvas.fitted(text, Layout::margin, y, height, at.width - 2 * Layout::margin, 0.75, color, Side::left,
                      stroke);
    };
    const std::vector<std::string> words = confusion_words(evaluation);
    line(words[0], 60, 22, ink, 0.15);
    line(words[1], 91, 11, faint_ink, 0.13);
    line(words[2], 115, 11, faint_ink, 0.13);
}

void draw_cells(Canvas& canvas, const Layout& at, const Counts& counts, std::int64_t max_right,
                std::int64_t max_wrong) {
    for (std::size_t row = 0; row < counts.size(); ++row)
        for (std::size_t column = 0; column < counts.size(); ++column) {
            const std::int64_t count = counts[row][column];
            const bool right = row == column;
            const Color color = count == 0 ? empty
                                : right    ? color_at(right_ramp, strength(count, max_right))
                                           : color_at(wrong_ramp, strength(count, max_wrong));
            canvas.box(at.x(column), at.y(row), at.cell - at.gap, at.cell - at.gap, color);
            const bool is_dark = 0.114 * color[0] + 0.587 * color[1] + 0.299 * color[2] < 150;
            if (count > 0 && at.count_height > 0)
                canvas.text(std::to_string(count), at.x(column) + (at.cell - at.gap) / 2,
                            at.y(row) + (at.cell - at.gap + at.count_height) / 2, at.count_height,
                            is_dark ? paper : ink, Side::center);
        }
}

void draw_axes(Canvas& canvas, const Layout& at, const Score& score) {
    const double height = at.label_height(), end = at.cell * at.classes;
    for (std::size_t i = 0; i < score.labels.size(); i += static_cast<std::size_t>(at.label_step)) {
        const std::string label = at.label_of(score, score.labels[i]);
        const double middle = (double(i) + 0.5) * at.cell - at.gap / 2, x = at.left + middle,
                     y = Layout::top + end + 12;
        canvas.text(label, at.left - 12, Layout::top + middle + height / 2, height, ink, Side::right);
        if (at.are_upward)
            canvas.text_upward(label, x, y + Canvas::width_of(label, height) / 2, height, ink);
        else
            canvas.text(label, x, y + height, height, ink, Side::center);
    }
    canvas.text_upward("true", Layout::margin + 6, Layout::top + end / 2, 12);
    canvas.text("predicted", at.left + end / 2, at.height - 32, 12, faint_ink, Side::center);
}

/// The scale of one hue: a bar with the maximum at the top, and counts next to it.
void draw_scale(Canvas& canvas, const Layout& at, double top, double height, const Ramp& ramp,
                const std::string& name, std::int64_t most) {
    const double x = at.width - Layout::beside + 30;
    canvas.text(name, x, top - 12, 10);
    for (int row = 0; row < height; ++row)
        canvas.box(x, top + row, Layout::bar, 1, color_at(ramp, 1 - row / height));
    double above = top - 100;
    for (const double share : {1.0, 0.5, 0.2, 0.05, 0.0}) {
        double step = std::pow(10, std::floor(std::log10(std::max(share * double(most), 1.0))));
        const auto count = share == 1.0 ? most : std::int64_t(std::floor(share * double(most) / step) * step);
        const double y = top + height * (1 - strength(count, most));
        if (y - above < 16) continue;
        above = y;
        canvas.box(x + Layout::bar, y - 0.5, 5, 1, faint_ink);
        canvas.text(with_commas(count), x + Layout::bar + 9, y + 4.5, 9);
    }
}

constexpr int sheet_columns = 14, sheet_rows = 12, min_columns = 8;  // the title needs some width
static_assert(sheet_digits == std::int64_t{sheet_columns} * sheet_rows);
constexpr double sheet_margin = 32, sheet_head = 104, sheet_tile = 84, cell_width = 100, cell_height = 138;

void draw_digit(Canvas& canvas, const Sheet& sheet, const PageDigit& digit, double x, double y) {
    const LabeledImages& images = sheet.images;
    canvas.image(images.images().row(digit.index), images.rows, images.cols, x, y, sheet_tile);

    constexpr double usual = 12, least = 7, arrow = 14, gap = 6, below = sheet_tile + 20;
    constexpr double max_width = cell_width - 8 - arrow - 2 * gap;  // of both labels
    std::string from = class_text(sheet.data.class_name(digit.label)),
                to = class_text(sheet.data.class_name(digit.predicted));
    const double wide = Canvas::width_of(printable(from), usual) + Canvas::width_of(printable(to), usual);
    const double height = std::clamp(usual * max_width / wide, least, usual);
    constexpr double room = max_width + 3;  // widths are not quite proportional to heights
    to = shortened(to, height, std::max(room / 2, room - Canvas::width_of(printable(from), height)));
    from = shortened(from, height, room - Canvas::width_of(to, height));
    const double from_width = Canvas::width_of(from, height), to_width = Canvas::width_of(to, height);
    const double middle = x + sheet_tile / 2;
    x = middle - (from_width + gap + arrow + gap + to_width) / 2;
    canvas.text(from, x, y + below, height, right_ink, Side::left, 0.16);
    canvas.arrow(x + from_width + gap, y + below, arrow, height);
    canvas.text(to, x + from_width + gap + arrow + gap, y + below, height,
                digit.label == digit.predicted ? right_ink : wrong_ink, Side::left, 0.16);

    const std::string number = '#' + std::to_string(digit.index);
    canvas.text(number + "  " + short_percent(digit.confidence), middle, y + sheet_tile + 36, 8, faint_ink,
                Side::center, 0.14);
}

}  // namespace

bool pictures_available() {
    return true;
}

std::vector<std::string> confusion_words(const Evaluation& evaluation) {
    const Score& score = evaluation.score;
    const bool of_pictures = !evaluation.pictures.empty();
    const std::string rows = row_noun(*evaluation.data), one = of_pictures ? "picture" : "test " + rows;
    const auto labels = [](const LabeledImages& set) { return static_cast<std::int64_t>(set.labels.size()); };
    const std::int64_t all = of_pictures ? evaluation.n_named : labels(evaluation.data->test);
    std::string settings =
        short_method_text(evaluation.method) + ", " +
        counted_of(evaluation.n_train, labels(evaluation.data->train), "training " + rows) + ", ";
    if (evaluation.n_test < all) settings += counted_of(evaluation.n_test, all, one) + ", ";
    return {percent(score.accuracy) + " on " + evaluation.data->name,
            with_commas(score.correct) + " of " + counted(score.total, one) + " right, 95 % interval " +
                percent(score.accuracy_low) + " to " + percent(score.accuracy_high),
            settings + evaluation.found.plan.device.name};
}

std::vector<std::uint8_t> confusion_png(const Evaluation& evaluation) {
    const Counts& counts = evaluation.score.confusion;
    std::int64_t max_right = 0, max_wrong = 0;
    for (std::size_t row = 0; row < counts.size(); ++row)
        for (std::size_t column = 0; column < counts.size(); ++column) {
            std::int64_t& most = row == column ? max_right : max_wrong;
            most = std::max(most, counts[row][column]);
        }

    const Layout at(evaluation.score, std::max(max_right, max_wrong));
    Canvas canvas(at.width, at.height);
    draw_title(canvas, at, evaluation);
    draw_cells(canvas, at, counts, max_right, max_wrong);
    draw_axes(canvas, at, evaluation.score);
    const double half = (at.height - Layout::top - at.below - 56) / 2;
    draw_scale(canvas, at, Layout::top + 24, half - 12, wrong_ramp, "wrong", max_wrong);
    draw_scale(canvas, at, Layout::top + half + 68, half - 12, right_ramp, "right", max_right);
    return png_of(canvas.picture());
}

std::vector<std::uint8_t> sheet_png(const Sheet& sheet) {
    const std::int64_t count = std::ssize(sheet.digits);
    const std::int64_t across =
        std::clamp<std::int64_t>(std::max(sheet.of, count), min_columns, sheet_columns);
    const std::int64_t down = std::max<std::int64_t>(1, divide_up(count, across));
    const double max_width = std::max(double(across) * cell_width - (cell_width - sheet_tile),
                                      Canvas::width_of(sheet.legend, 10) + 1);
    const double width = 2 * sheet_margin + max_width;
    Canvas canvas(width, sheet_head + double(down) * cell_height + sheet_margin / 2, 3);
    canvas.text(shortened(sheet.title, 20, max_width), sheet_margin, sheet_margin + 22, 20, ink, Side::left,
                0.15);
    canvas.text(shortened(sheet.words, 10, max_width), sheet_margin, sheet_margin + 42, 10);
    canvas.text(sheet.legend, sheet_margin, sheet_margin + 60, 10);
    for (std::int64_t i = 0; i < count; ++i) {
        throw_if_stopped();
        const std::int64_t row = i / across, col = i % across;
        draw_digit(canvas, sheet, sheet.digits[static_cast<std::size_t>(i)],
                   sheet_margin + double(col) * cell_width, sheet_head + double(row) * cell_height);
    }
    if (count == 0) canvas.text("There are none.", sheet_margin, sheet_head + 20, 12);
    return png_of(canvas.picture());
}

}  // namespace knn
