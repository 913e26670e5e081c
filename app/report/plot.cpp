#include "app/report/plot.h"

#include <algorithm>
#include <cmath>

namespace knn {

namespace {

constexpr int paper = 0xffffff, ink = 0x1d2733, faint = 0x5d6b7a, grid = 0xe3e8ee;
// Hues that color-blind readers can distinguish (Okabe and Ito), dark enough for thin lines.
constexpr int hues[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0x8c6d00, 0x56b4e9, 0x5b3fa0, 0x555555};
constexpr double panel_width = 620, line_panel_height = 430, gap = 26, margin = 28, head = 60, line_step = 19;
constexpr double letter = 0.92;  // average width of a letter, in heights of capitals
constexpr double bar_height = 15, bar_step = 27;
constexpr double title_height = 15;
constexpr double note_height = 8.5, note_step = 15;

double width_of(const std::string& text, double height) {
    return letter * height * static_cast<double>(text.size());
}

/// The text wrapped to the width of a panel.
std::vector<std::string> wrapped(const std::string& text, double height) {
    const auto most = static_cast<std::size_t>(panel_width / (letter * height));
    std::vector<std::string> lines;
    std::size_t begin = 0;
    while (text.size() - begin > most) {
        const std::size_t space = text.rfind(' ', begin + most);
        const bool found = space != std::string::npos && space > begin;
        const std::size_t end = found ? space : begin + most;
        lines.push_back(text.substr(begin, end - begin));
        begin = end + (found ? 1 : 0);
    }
    lines.push_back(text.substr(begin));
    return lines;
}

std::vector<std::string> note_lines(const Panel& panel) {
    std::vector<std::string> all;
    for (const std::string& note : panel.notes)
        for (std::string& line : wrapped(note, note_height))
            all.push_back(std::move(line));
    return all;
}

/// Without the notes.
double body_height(const Panel& panel) {
    return panel.lines.empty() ? 28 + bar_step * static_cast<double>(panel.bars.size()) + 46
                               : line_panel_height;
}

struct Area {
    double x, y, width, height;
};

/// A scale from marks to pixels.
class Scale {
  public:
    Scale(std::vector<double> marks, double low, double high, bool logarithmic, double from, double to)
        : marks_(std::move(marks)), low_(low), high_(high), logarithmic_(logarithmic), from_(from), to_(to) {}
    double operator()(double value) const {
        const double low = place(low_), high = place(high_);
        return from_ + (to_ - from_) * (place(std::clamp(value, low_, high_)) - low) / (high - low);
    }
    const std::vector<double>& marks() const { return marks_; }
    bool logarithmic() const { return logarithmic_; }

  private:
    double place(double value) const { return logarithmic_ ? std::log10(value) : value; }
    std::vector<double> marks_;
    double low_, high_;
    bool logarithmic_;
    double from_, to_;
};

/// From the first mark to the last; `tight`: only the range of the values, with the marks within it.
Scale scale_for(const std::vector<double>& values, bool logarithmic, double from, double to,
                bool tight = false) {
    double low = values.empty() ? 1 : *std::min_element(values.begin(), values.end());
    const double high = values.empty() ? 10 : *std::max_element(values.begin(), values.end());
    if (logarithmic && low <= 0) low = 1e-3;
    std::vector<double> marks = axis_marks(low, high, logarithmic);
    if (!tight || low >= high) return {marks, marks.front(), marks.back(), logarithmic, from, to};
    constexpr double margin_share = 0.03;
    const double spread = logarithmic ? std::pow(high / low, margin_share) : margin_share * (high - low);
    const double first = logarithmic ? low / spread : low - spread,
                 last = logarithmic ? high * spread : high + spread;
    std::erase_if(marks, [&](double mark) { return mark < first || mark > last; });
    return {marks, first, last, logarithmic, from, to};
}

class Painter {
  public:
    Drawing drawing;

    void line(double x1, double y1, double x2, double y2, double width, int color) {
        drawing.shapes.emplace_back(DrawnLine{x1, y1, x2, y2, width, color});
    }
    void text(const std::string& words, double x, double y, double height, int color, Anchor anchor) {
        drawing.shapes.emplace_back(DrawnText{words, x, y, height, color, anchor});
    }
    void panel(const Panel& panel, Area area) {
        text(panel.title, area.x, area.y + 12, 10.5, ink, Anchor::left);
        const std::vector<std::string> notes = note_lines(panel);
        area.height = body_height(panel);
        for (std::size_t i = 0; i < notes.size(); ++i)
            text(notes[i], area.x, area.y + area.height + 10 + note_step * static_cast<double>(i),
                 note_height, faint, Anchor::left);
        if (panel.lines.empty())
            bars(panel, area);
        else
            lines(panel, area);
    }

  private:
    void bars(const Panel& panel, const Area& area) {
        std::size_t longest = 0;
        std::vector<double> values;
        for (const PlotBar& bar : panel.bars) {
            longest = std::max(longest, bar.name.size());
            values.insert(values.end(), {bar.low, bar.high});
        }
        if (!panel.log_x) values.push_back(0);  // where bars begin
        // Whole decades: with closer marks small differences would look large.
        if (panel.log_x && !values.empty()) {
            const double low = std::max(*std::min_element(values.begin(), values.end()), 1e-6);
            values.insert(values.end(), {low, std::pow(10.0, std::floor(std::log10(low)))});
        }
        const double left = area.x + std::min(letter * 9.5 * double(longest) + 12, area.width / 2);
        const double right = area.x + area.width - 64, top = area.y + 28;
        const double bottom = top + bar_step * static_cast<double>(panel.bars.size());
        const Scale x = scale_for(values, panel.log_x, left, right);
        axis_below(x, panel.x_label, {left, top, right - left, bottom - top});
        double y = top + bar_step / 2;
        for (const PlotBar& bar : panel.bars) {
            text(bar.name, left - 8, y + 4.5, 9.5, ink, Anchor::right);
            drawing.shapes.emplace_back(
                DrawnBox{left, y - bar_height / 2, std::max(x(bar.value) - left, 2.0), bar_height, hues[0]});
            if (bar.high > bar.low) whisker(x(bar.low), x(bar.high), y);
            text(bar.text, std::max(x(bar.value), x(bar.high)) + 6, y + 4.5, 9, faint, Anchor::left);
            y += bar_step;
        }
    }

    void whisker(double from, double to, double y) {
        line(from, y, to, y, 1.2, ink);
        line(from, y - 3, from, y + 3, 1.2, ink);
        line(to, y - 3, to, y + 3, 1.2, ink);
    }

    void lines(const Panel& panel, const Area& area) {
        std::vector<double> xs, ys;
        double legend_width = 0;
        for (const PlotLine& one : panel.lines) {
            legend_width = std::max(legend_width, 30 + width_of(one.name, 9));
            for (const PlotPoint& point : one.points) {
                xs.push_back(point.x);
                ys.insert(ys.end(), {point.low, point.high});
            }
        }
        const double left = area.x + 66,
                     right = area.x + area.width - std::min(legend_width, area.width / 2.5) - 12;
        const double top = area.y + 30, bottom = area.y + area.height - 46;
        const Scale x = scale_for(xs, panel.log_x, left, right, true),
                    y = scale_for(ys, panel.log_y, bottom, top);
        axis_below(x, panel.x_label, {left, top, right - left, bottom - top});
        for (const double mark : y.marks()) {
            line(left, y(mark), right, y(mark), 1, grid);
            text(axis_text(mark), left - 7, y(mark) + 4, 8.5, faint, Anchor::right);
        }
        line(left, top, left, bottom, 1.2, faint);
        drawing.shapes.emplace_back(
            DrawnText{panel.y_label, area.x + 9, (top + bottom) / 2, 9, faint, Anchor::center, true});
        double legend_y = top + 8;
        for (std::size_t i = 0; i < panel.lines.size(); ++i, legend_y += 19) {
            const int color = hues[i % std::size(hues)];
            curve(panel.lines[i], x, y, color);
            line(right + 12, legend_y - 4, right + 30, legend_y - 4, 2.2, color);
            drawing.shapes.emplace_back(DrawnDisc{right + 21, legend_y - 4, 3.2, color});
            text(panel.lines[i].name, right + 36, legend_y, 9, ink, Anchor::left);
        }
    }

    void curve(const PlotLine& one, const Scale& x, const Scale& y, int color) {
        for (std::size_t i = 0; i < one.points.size(); ++i) {
            const PlotPoint& point = one.points[i];
            if (i > 0)
                line(x(one.points[i - 1].x), y(one.points[i - 1].y), x(point.x), y(point.y), 2.2, color);
            if (point.high > point.low) line(x(point.x), y(point.low), x(point.x), y(point.high), 1.2, color);
            drawing.shapes.emplace_back(DrawnDisc{x(point.x), y(point.y), 3.2, color});
            if (point.hollow) drawing.shapes.emplace_back(DrawnDisc{x(point.x), y(point.y), 1.9, paper});
        }
    }

    void axis_below(const Scale& x, const std::string& label, const Area& inside) {
        const double bottom = inside.y + inside.height, right = inside.x + inside.width;
        // Omits labels that would touch: shows every second, third ... of equally spaced marks.
        double last = -1e9, widest = 0;
        for (const double mark : x.marks())
            widest = std::max(widest, width_of(axis_text(mark), 8.5) + 8);
        const std::vector<double>& marks = x.marks();
        const double step = marks.size() > 1 ? x(marks[1]) - x(marks[0]) : widest;
        const auto every =
            x.logarithmic() ? 1 : static_cast<std::size_t>(std::max(1.0, std::ceil(widest / step)));
        for (std::size_t i = 0; i < marks.size(); ++i) {
            const double place = x(marks[i]), half = width_of(axis_text(marks[i]), 8.5) / 2;
            line(place, inside.y, place, bottom, 1, grid);
            if (i % every != 0 || place - half < last + 6) continue;
            last = place + half;
            text(axis_text(marks[i]), place, bottom + 16, 8.5, faint, Anchor::center);
        }
        line(inside.x, bottom, right, bottom, 1.2, faint);
        text(label, (inside.x + right) / 2, bottom + 36, 9, faint, Anchor::center);
    }
};

double height_of(const Panel& panel) {
    return body_height(panel) + (panel.notes.empty() ? 0 : 8) +
           note_step * static_cast<double>(note_lines(panel).size());
}

}  // namespace

Drawing draw_panels(const std::string& title, const std::vector<std::string>& lines,
                    const std::vector<Panel>& panels) {
    Painter painter;
    const std::size_t columns = panels.size() > 1 ? 2 : 1;
    double y = head + line_step * static_cast<double>(lines.size()) + 8;
    std::vector<Area> areas;
    for (std::size_t i = 0; i < panels.size(); i += columns) {
        double row = 0;
        for (std::size_t c = 0; c < columns && i + c < panels.size(); ++c)
            row = std::max(row, height_of(panels[i + c]));
        for (std::size_t c = 0; c < columns && i + c < panels.size(); ++c)
            areas.push_back({margin + static_cast<double>(c) * (panel_width + gap), y, panel_width, row});
        y += row + gap;
    }
    double width = static_cast<double>(columns) * panel_width + static_cast<double>(columns - 1) * gap;
    width = std::max(width, width_of(title, title_height));
    for (const std::string& line : lines)
        width = std::max(width, width_of(line, 9));
    painter.drawing.width = 2 * margin + width;
    painter.drawing.height = y;
    painter.drawing.shapes.emplace_back(DrawnBox{0, 0, painter.drawing.width, y, paper});
    painter.text(title, margin, 38, title_height, ink, Anchor::left);
    for (std::size_t i = 0; i < lines.size(); ++i)
        painter.text(lines[i], margin, head + line_step * static_cast<double>(i), 9, faint, Anchor::left);
    for (std::size_t i = 0; i < panels.size(); ++i)
        painter.panel(panels[i], areas[i]);
    return std::move(painter.drawing);
}

}  // namespace knn
