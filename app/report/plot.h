#pragma once
/// Lines and bars with axes, as a drawing.

#include <string>
#include <vector>

#include "app/report/drawing.h"

namespace knn {

struct PlotPoint {
    double x = 0, y = 0, low = 0, high = 0;  ///< low to high: how far y spreads; equal: no whisker
    bool hollow = false;                     ///< a note says of what kind it is
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

/// One diagram: lines over x and y, or, where there are none, bars that lie on their side.
struct Panel {
    std::string title, x_label, y_label;
    bool log_x = true, log_y = true;  ///< of bars: log_x is their scale
    std::vector<PlotLine> lines;
    std::vector<PlotBar> bars;
    std::vector<std::string> notes;  ///< below it, each on a line or more
};

/// All of them below a title and some lines, two side by side where there are more than one.
Drawing draw_panels(const std::string& title, const std::vector<std::string>& lines,
                    const std::vector<Panel>& panels);

/// Where an axis has its marks: round numbers from at most `low` to at least `high`, of which `low` is
/// positive where the scale is logarithmic.
std::vector<double> axis_marks(double low, double high, bool logarithmic);

/// 0.001, 20, 4,096, "65k": short enough for an axis.
std::string axis_text(double value);

}  // namespace knn
