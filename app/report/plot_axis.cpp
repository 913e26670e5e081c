#include <algorithm>
#include <cmath>

#include "app/report/plot.h"
#include "data/core/format.h"

namespace knn {

namespace {

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
    const double span = high > low ? high - low : 1;
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

}  // namespace

std::vector<double> axis_marks(double low, double high, bool logarithmic) {
    return logarithmic ? logarithmic_marks(low, std::max(high, low)) : linear_marks(low, high);
}

namespace {

/// With at most one digit after the point, omitted if 0.
std::string brief(double value) {
    return std::fabs(value - std::round(value)) < 0.05 ? fixed(value, 0) : fixed(value, 1);
}

}  // namespace

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

}  // namespace knn
