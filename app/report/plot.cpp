#include "app/report/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/report/text.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr const char *white = "#ffffff", *dark = "#1d2733", *gray = "#5d6b7a", *grid = "#e3e8ee";
// Hues that color-blind readers can distinguish (Okabe and Ito), dark enough for thin lines.
constexpr const char* hues[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                "#8c6d00", "#56b4e9", "#5b3fa0", "#555555"};
// As many as have no common divisor with the hues: 40 lines differ.
constexpr const char* dashes[] = {"none", "7 4", "2 3", "11 3 2 3", "4 6"};
constexpr double panel_width = 620, line_panel_height = 430, panel_gap = 26, plot_margin = 28, plot_head = 60,
                 line_step = 19;
constexpr double letter_width = 0.92;  // average width of a letter, in heights of capitals
constexpr double bar_height = 15, bar_step = 27;
constexpr double title_height = 15;
constexpr double note_height = 8.5, note_step = 15;

double width_of(const std::string& text, double height) {
    return letter_width * height * static_cast<double>(text.size());
}

struct Area {
    double x, y, width, height;
};

struct Scale {
    std::vector<double> marks;
    double low, high;
    bool logarithmic;
    double from, to;  ///< pixels of low and high

    double operator()(double value) const {
        const double first = place(low), last = place(high);
        return from + (to - from) * (place(std::clamp(value, low, high)) - first) / (last - first);
    }
    double place(double value) const { return logarithmic ? std::log10(value) : value; }
};

/// From the first mark to the last; `tight`: only the range of the values, with the marks within it.
Scale scale_for(const std::vector<double>& values, bool logarithmic, double from, double to,
                bool tight = false) {
    double low = values.empty() ? 1 : std::ranges::min(values);
    double high = values.empty() ? 10 : std::ranges::max(values);
    if (logarithmic && low <= 0) low = 1e-3;
    std::vector<double> marks = axis_marks(low, high, logarithmic);
    if (!tight || low >= high) return {marks, marks.front(), marks.back(), logarithmic, from, to};
    constexpr double margin_share = 0.03;
    const double spread = logarithmic ? std::pow(high / low, margin_share) : margin_share * (high - low);
    low = logarithmic ? low / spread : low - spread;
    high = logarithmic ? high * spread : high + spread;
    std::erase_if(marks, [&](double mark) { return mark < low || mark > high; });
    return {marks, low, high, logarithmic, from, to};
}

std::string attribute(const char* name, double value) {
    return std::string(" ") + name + "=\"" + fixed(value, 2) + '"';
}

enum class Anchor { left, center, right };

/// Shapes as SVG. Lengths in pixels, y down; colors as in CSS.
class Painter {
  public:
    std::string svg;

    void line(double x1, double y1, double x2, double y2, double width, const char* color) {
        svg += "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) +
               attribute("y2", y2) + attribute("stroke-width", width) + " stroke=\"" + color +
               "\" stroke-linecap=\"round\"/>\n";
    }
    void curve(const std::vector<std::pair<double, double>>& points, const char* color, const char* pattern) {
        svg += "<polyline points=\"";
        for (const auto& [x, y] : points)
            svg += fixed(x, 2) + ',' + fixed(y, 2) + ' ';
        svg += "\"" + attribute("stroke-width", 2.2) + " stroke=\"" + color + "\" stroke-dasharray=\"" +
               pattern + "\" stroke-linejoin=\"round\" fill=\"none\"/>\n";
    }
    void box(double x, double y, double width, double height, const char* color) {
        svg += "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
               attribute("height", height) + " fill=\"" + color + "\"/>\n";
    }
    void disc(double x, double y, double radius, const char* color) {
        svg += "<circle" + attribute("cx", x) + attribute("cy", y) + attribute("r", radius) + " fill=\"" +
               color + "\"/>\n";
    }
    /// Placed by its baseline and sized by the height of its capitals; upward: from bottom to top, around (x, y).
    void text(const std::string& words, double x, double y, double height, const char* color, Anchor anchor,
              bool upward = false) {
        constexpr double capitals = 0.72;  // of a sans-serif font's size
        constexpr std::array anchors = {"start", "middle", "end"};
        svg += "<text" + attribute("x", x) + attribute("y", upward ? y + height / 2 : y) +
               attribute("font-size", height / capitals) + " fill=\"" + color + "\" text-anchor=\"" +
               anchors.at(static_cast<std::size_t>(anchor)) + '"';
        if (upward) svg += " transform=\"rotate(-90 " + fixed(x, 2) + ' ' + fixed(y, 2) + ")\"";
        svg += '>' + escaped(words) + "</text>\n";
    }
    double panel(const Panel& panel, double x, double y) {
        text(panel.title, x, y + 12, 10.5, dark, Anchor::left);
        const double height = panel.lines.empty()
                                  ? 28 + bar_step * static_cast<double>(panel.bars.size()) + 46
                                  : line_panel_height;
        const auto fits = [](const std::string& line) { return width_of(line, note_height) <= panel_width; };
        double note_y = y + height + 10;
        for (const std::string& note : panel.notes)
            for (const std::string& line : wrapped(note, fits)) {
                text(line, x, note_y, note_height, gray, Anchor::left);
                note_y += note_step;
            }
        const Area area{x, y, panel_width, height};
        if (panel.lines.empty())
            bars(panel, area);
        else
            lines(panel, area);
        return panel.notes.empty() ? height : note_y - y - 2;
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
            const double low = std::max(std::ranges::min(values), 1e-6);
            values.insert(values.end(), {low, std::pow(10.0, std::floor(std::log10(low)))});
        }
        const double left = area.x + std::min(letter_width * 9.5 * double(longest) + 12, area.width / 2);
        const double right = area.x + area.width - 64, top = area.y + 28;
        const double bottom = top + bar_step * static_cast<double>(panel.bars.size());
        const Scale x = scale_for(values, panel.log_x, left, right);
        axis_below(x, panel.x_label, {left, top, right - left, bottom - top});
        double y = top + bar_step / 2;
        for (const PlotBar& bar : panel.bars) {
            text(bar.name, left - 8, y + 4.5, 9.5, dark, Anchor::right);
            box(left, y - bar_height / 2, std::max(x(bar.value) - left, 2.0), bar_height, hues[0]);
            if (bar.high > bar.low) {
                line(x(bar.low), y, x(bar.high), y, 1.2, dark);
                for (const double end : {x(bar.low), x(bar.high)})
                    line(end, y - 3, end, y + 3, 1.2, dark);
            }
            text(bar.text, std::max(x(bar.value), x(bar.high)) + 6, y + 4.5, 9, gray, Anchor::left);
            y += bar_step;
        }
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
        for (const double mark : y.marks) {
            line(left, y(mark), right, y(mark), 1, grid);
            text(axis_text(mark), left - 7, y(mark) + 4, 8.5, gray, Anchor::right);
        }
        line(left, top, left, bottom, 1.2, gray);
        text(panel.y_label, area.x + 9, (top + bottom) / 2, 9, gray, Anchor::center, true);
        double legend_y = top + 8;
        for (std::size_t i = 0; i < panel.lines.size(); ++i, legend_y += 19) {
            const auto first = std::ranges::find(panel.lines, panel.lines[i].points, &PlotLine::points);
            const auto style = static_cast<std::size_t>(first - panel.lines.begin());
            const char *color = hues[style % std::size(hues)], *pattern = dashes[style % std::size(dashes)];
            if (style == i) plot(panel.lines[i], x, y, color, pattern);
            curve({{right + 12, legend_y - 4}, {right + 30, legend_y - 4}}, color, pattern);
            disc(right + 21, legend_y - 4, 3.2, color);
            text(panel.lines[i].name, right + 36, legend_y, 9, dark, Anchor::left);
        }
    }

    void plot(const PlotLine& one, const Scale& x, const Scale& y, const char* color, const char* pattern) {
        std::vector<std::pair<double, double>> places;
        for (const PlotPoint& point : one.points)
            places.emplace_back(x(point.x), y(point.y));
        curve(places, color, pattern);
        for (const PlotPoint& point : one.points) {
            if (point.high > point.low) line(x(point.x), y(point.low), x(point.x), y(point.high), 1.2, color);
            disc(x(point.x), y(point.y), 3.2, color);
            if (point.hollow) disc(x(point.x), y(point.y), 1.9, white);
        }
    }

    void axis_below(const Scale& x, const std::string& label, const Area& inside) {
        const double bottom = inside.y + inside.height, right = inside.x + inside.width;
        // Omits labels that would touch: shows every second, third ... of equally spaced marks.
        double last = -1e9, widest = 0;
        for (const double mark : x.marks)
            widest = std::max(widest, width_of(axis_text(mark), 8.5) + 8);
        const double step = x.marks.size() > 1 ? x(x.marks[1]) - x(x.marks[0]) : widest;
        const auto every =
            x.logarithmic ? 1 : static_cast<std::size_t>(std::max(1.0, std::ceil(widest / step)));
        for (std::size_t i = 0; i < x.marks.size(); ++i) {
            const std::string words = axis_text(x.marks[i]);
            const double place = x(x.marks[i]), half = width_of(words, 8.5) / 2;
            line(place, inside.y, place, bottom, 1, grid);
            if (i % every != 0 || place - half < last + 6) continue;
            last = place + half;
            text(words, place, bottom + 16, 8.5, gray, Anchor::center);
        }
        line(inside.x, bottom, right, bottom, 1.2, gray);
        text(label, (inside.x + right) / 2, bottom + 36, 9, gray, Anchor::center);
    }
};

/// The powers of ten and, if there are few, 2 and 5 times these.
std::vector<double> logarithmic_marks(double low, double high) {
    const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
    const int last = std::max(first + 1, static_cast<int>(std::ceil(std::log10(high) - 1e-9)));
    const bool fine = last - first <= 2;
    const int step = last - first > 8 ? 2 : 1;
    std::vector<double> marks;
    for (int power = first; power <= last; power += step)
        for (const double factor : {1.0, 2.0, 5.0})
            if ((factor == 1.0 || (fine && power < last))) marks.push_back(factor * std::pow(10.0, power));
    // Removes marks beyond the range of the values.
    while (marks.size() > 2 && marks[1] <= low)
        marks.erase(marks.begin());
    while (marks.size() > 2 && marks[marks.size() - 2] >= high)
        marks.pop_back();
    if (marks.back() < high) marks.push_back(marks.back() * std::pow(10.0, step));
    return marks;
}

std::vector<double> linear_marks(double low, double high) {
    low = std::min(low, 0.0);
    if (high <= low) high = low + 1;  // an axis has two ends
    const double span = high - low;
    double step = std::pow(10.0, std::floor(std::log10(span / 4)));
    for (const double factor : {5.0, 2.0})
        if (span / (step * factor) >= 4) {
            step *= factor;
            break;
        }
    std::vector<double> marks;
    for (double mark = std::floor(low / step) * step; marks.empty() || marks.back() < high - 1e-9 * span;
         mark += step)
        marks.push_back(mark);
    return marks;
}

/// With at most one digit after the point, omitted if 0.
std::string brief(double value) {
    return std::fabs(value - std::round(value)) < 0.05 ? fixed(value, 0) : fixed(value, 1);
}

}  // namespace

std::string draw_panels(const std::string& title, const std::vector<std::string>& lines,
                        const std::vector<Panel>& panels) {
    Painter body, title_part;
    const std::size_t columns = panels.size() > 1 ? 2 : 1;
    double y = plot_head + line_step * static_cast<double>(lines.size()) + 8;
    for (std::size_t i = 0; i < panels.size(); i += columns) {
        double height = 0;
        for (std::size_t c = 0; c < columns && i + c < panels.size(); ++c)
            height = std::max(
                height, body.panel(panels[i + c],
                                   plot_margin + static_cast<double>(c) * (panel_width + panel_gap), y));
        y += height + panel_gap;
    }
    double width = std::max(double(columns) * panel_width + double(columns - 1) * panel_gap,
                            width_of(title, title_height));
    for (const std::string& line : lines)
        width = std::max(width, width_of(line, 9));
    width += 2 * plot_margin;
    title_part.box(0, 0, width, y, white);
    title_part.text(title, plot_margin, 38, title_height, dark, Anchor::left);
    for (std::size_t i = 0; i < lines.size(); ++i)
        title_part.text(lines[i], plot_margin, plot_head + line_step * static_cast<double>(i), 9, gray,
                        Anchor::left);
    return svg_of(width, y, title_part.svg + body.svg);
}

std::vector<double> axis_marks(double low, double high, bool logarithmic) {
    return logarithmic ? logarithmic_marks(low, std::max(high, low)) : linear_marks(low, high);
}

std::string axis_text(double value) {
    if (value == 0) return "0";
    const double size = std::fabs(value);
    if (size >= 1e6) return brief(value / 1e6) + "M";
    if (size >= 1e4) return brief(value / 1e3) + "k";
    if (size >= 1) return brief(value);
    std::string text = fixed(value, 7);
    text.erase(text.find_last_not_of('0') + 1);
    return text;
}

std::string svg_of(double width, double height, const std::string& shapes) {
    const std::string size = fixed(width, 0), high = fixed(height, 0);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" height=\"" + high +
           "\" viewBox=\"0 0 " + size + ' ' + high +
           "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n" + shapes + "</svg>\n";
}

}  // namespace knn
