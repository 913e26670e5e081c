#pragma once
/// Tables and diagrams of measurements, and the figures that the papers state beside them.

#include <string>
#include <string_view>
#include <vector>

#include "app/bench/report.h"

namespace knn {

/// The time of all queries, marked if extrapolated; "WRONG" or "not run" if there is none.
std::string ms_cell(const Measurement& measured);
/// Adds a table to the report, with a note on the marks in it, if there are any.
void add_marked(BenchReport& report, BenchTable table);

/// What is counted and timed, in headings.
struct Unit {
    const char *many, *one;
};
inline constexpr Unit of_queries{"queries", "query"}, of_images{"images", "image"};

/// A group of measurements: a table with one row each, and a bar chart. All times of a row are those of all queries.
class Section {
  public:
    /// `first`: heading of the names; `more`: columns after those that every measurement has.
    Section(BenchReport& report, std::string title, const std::string& first,
            const std::vector<std::string>& more = {}, const Unit& unit = of_queries);

    /// One row; `more`: its cells in the columns of that name.
    void add(const Measurement& one, const std::vector<std::string>& more = {});
    /// Adds both to the report, the bars from the fastest to the slowest, with these lines below the table; nothing if
    /// there is no row.
    void finish(const std::vector<std::string>& notes = {});

  private:
    BenchReport& report_;
    BenchTable table_;
    Panel panel_;
    Unit unit_;
    bool partial_ = false;
};

/// The lines of figures.csv: what the seeds tabulate or say of times, speed-ups, rates and sizes. The text of 000 and 001 has no
/// values of their diagrams.
const std::vector<Figure>& paper_figures();

/// The figure with this source, row and column; null if the text does not state it.
const Figure* find_figure(std::string_view source, std::string_view row, std::string_view column);

/// All figures whose source begins with `source`, for the report.
std::vector<Figure> quotes_of(std::string_view source);

/// bench/figures.csv, embedded by CMake.
extern const std::string_view figures_csv;

}  // namespace knn
