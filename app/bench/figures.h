#pragma once
/// Table of all figures that the papers state about their experiments, as printed.

#include <string>
#include <string_view>
#include <vector>

#include "app/bench/report.h"

namespace knn {

/// One figure: its source, what it measures, and the printed text.
struct Figure {
    const char* source;  ///< seed and section or table: "seed 003, 4.1"
    const char* row;     ///< "large", "case 3"
    const char* column;  ///< "sequential time"
    const char* text;
    const char* unit;  ///< "ms", "s", "x" for a ratio, "" for a count

    double value() const;
};
const std::vector<Figure>& paper_figures();

/// The figure with this source, row and column; null if the text does not state it.
const Figure* find_figure(std::string_view source, std::string_view row, std::string_view column);

/// Its text, or "not stated".
std::string stated(std::string_view source, std::string_view row, std::string_view column);

/// All figures whose source begins with `source`, for the report.
std::vector<Quote> quotes_of(std::string_view source);

/// The nine sizes of seed 002, appendix A, the same for both of its systems.
struct SinghCase {
    const char* name;
    int n_query, n_train, dim;
};
const std::vector<SinghCase>& singh_cases();

}  // namespace knn
