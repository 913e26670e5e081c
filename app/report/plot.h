#pragma once
/// Lines and bars with axes, as an SVG.

#include <string>
#include <vector>

namespace knn {

struct PlotPoint {
    double x = 0, y = 0, low = 0, high = 0;  ///< low to high: range of y; equal: no whisker
    bool hollow = false;                     ///< marks a special kind, explained in a note

    friend bool operator==(const PlotPoint&, const PlotPoint&) = default;
};
struct PlotLine {
    std::string name;
    std::vector<PlotPoint> points;
};
struct PlotBar {
    std::string name;
    double value = 0, low = 0, high = 0;
    std::string text;  ///< at its end
};

/// One diagram: lines over x and y, or, if there are none, horizontal bars. Each line has a color and dashes of its own, through
/// which a line below it shows; lines through the same points are one, with all their names.
struct Panel {
    std::string title, x_label, y_label;
    bool log_x = true, log_y = true;  ///< for bars: log_x is their scale
    std::vector<PlotLine> lines = {};
    std::vector<PlotBar> bars = {};
    std::vector<std::string> notes = {};  ///< below it, one or more lines each
};

/// All panels below a title and some lines, in two columns if there is more than one.
std::string draw_panels(const std::string& title, const std::vector<std::string>& lines,
                        const std::vector<Panel>& panels);

/// An SVG of this size, in pixels.
std::string svg_of(double width, double height, const std::string& shapes);

/// The marks of an axis: round numbers from at most `low` to at least `high`. `low` is positive if the scale
/// is logarithmic.
std::vector<double> axis_marks(double low, double high, bool logarithmic);

/// 0.001, 20, 4,096, "65k": short enough for an axis.
std::string axis_text(double value);

}  // namespace knn
