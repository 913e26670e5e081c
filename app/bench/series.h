#pragma once
/// A diagram of a paper: several ways to search, with one varying size.

#include <functional>
#include <string>
#include <vector>

#include "app/bench/run.h"

namespace knn {

/// One diagram with its table: one row per point, one column per way.
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
    void note(const std::string& text) { notes_.push_back(text); }

    void add_to(BenchReport& report) const;

  private:
    struct Cell {
        std::string text;
        double value = 0;  ///< 0: none
        double low = 0, high = 0;
        bool multiplied = false;
        double us_per_query = 0;  ///< 0: not comparable
    };
    struct Row {
        double x;
        std::string label;
        std::vector<std::pair<std::string, Cell>> cells;
        const Cell* find(const std::string& name) const;
    };
    std::string title_, x_, unit_;
    std::vector<std::string> ways_, extra_columns_, notes_;
    bool some_partial_ = false, some_multiplied_ = false;
    std::vector<std::string> not_drawn_;
    std::vector<Row> rows_;
};

}  // namespace knn
