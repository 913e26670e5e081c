#pragma once
/// Tables and diagrams of measurements, and the figures that the papers state beside them.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/bench/report.h"

namespace knn {

/// The time of all queries, marked if extrapolated; "WRONG" or "not run" if there is none.
std::string ms_cell(const Measurement& measured);
/// The fastest and the slowest run, "1.2 to 3.4", times `scale`; empty if there is none.
std::string range_cell(const Measurement& measured, double scale);
/// Its median and range, times `scale`, with its text in this unit.
PlotBar bar_of(const Measurement& measured, const std::string& name, double scale, const char* unit);
/// The sum of the times for all queries of parts of a search, whose names are separated by blanks, in this figure.
struct TotalTime {
    double ms = 0;  ///< 0 if one is missing
    std::string cell;
};
TotalTime time_of(const BenchReport& report, const std::string& figure, const std::string& parts);

/// "3.52", the first by the second, and the unit; empty if one of them is missing.
std::string ratio_cell(double a, double b, const char* unit = "");

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

/// A diagram of a paper with its table: several ways to search, with one varying size. One row per point, one column per
/// way.
class Diagram {
  public:
    /// `x`: the varying size; `unit` of the cells and of the y axis: "ms".
    Diagram(std::string title, std::string x, std::string unit, std::vector<std::string> ways);

    /// Begins a row at this x; `label`: its name in the table.
    void row(double x, const std::string& label);
    /// The value of one way in the row, in the unit for all queries; a measurement that is not good gives a
    /// word instead. If only some queries were timed, the cell says how many. The plot then extrapolates the
    /// time of a CPU thread, whose queries take equal time, and omits others; it notes both.
    void value(const std::string& way, const Measurement& measured, double value);
    /// A cell with other text.
    void words(const std::string& column, const std::string& text);
    /// Adds a column with the ratio of two ways' times per query; empty if one was measured on only some
    /// queries, unless it is a CPU thread, whose queries take equal time.
    void ratio(const std::string& column, const std::string& of, const std::string& to);
    void note(const std::string& text) { table_.notes.push_back(text); }

    void add_to(BenchReport& report);

  private:
    /// Of the last row; adds the column if there is none of this name.
    std::string& cell(const std::string& column);

    BenchTable table_;
    Panel panel_;  ///< one line per way
    double x_ = 0;
    std::map<std::string, double> us_per_query_;  ///< of the last row's ways that can be compared
    bool some_partial_ = false, some_hollow_ = false;
    std::string not_drawn_;
};

/// The lines of figures.csv. Seeds 002, 003 and 004 state figures; 000 and 001 show diagrams without values.
const std::vector<Figure>& paper_figures();

/// The figure with this source, row and column; null if the text does not state it.
const Figure* find_figure(std::string_view source, std::string_view row, std::string_view column);

/// Its text, or "not stated".
std::string stated(std::string_view source, std::string_view row, std::string_view column);

/// All figures whose source begins with `source`, for the report.
std::vector<Figure> quotes_of(std::string_view source);

/// bench/figures.csv, embedded by CMake.
extern const std::string_view figures_csv;

}  // namespace knn
