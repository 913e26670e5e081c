#pragma once
/// A diagram of a paper: some ways to search, along one size that varies.

#include <functional>
#include <string>
#include <vector>

#include "app/bench/run.h"

namespace knn {

/// One diagram with its table: a row for each point, a column for each way.
class Diagram {
  public:
    /// `x`: what varies; `unit` of the cells and of the y axis: "ms".
    Diagram(std::string title, std::string x, std::string unit, std::vector<std::string> ways);

    /// Begins a row at this place of the x axis; `label` is what the table calls it.
    void row(double x, const std::string& label);
    /// The value of one way in the row, in the unit for all queries; a measurement that is not good leaves a
    /// word instead. Where it is of some queries only, the cell says of how many. The plot then multiplies
    /// the time of a CPU thread, whose queries are alike, and leaves out others; it says both.
    void value(const std::string& way, const Measurement& measured, double value);
    /// A cell that says something else.
    void words(const std::string& column, const std::string& text);
    /// The ratio of two ways' times of a query in the row as one more column; empty where one was measured on
    /// some queries only, unless it is a CPU thread, whose queries are alike.
    void ratio(const std::string& column, const std::string& of, const std::string& to);
    void note(const std::string& text) { notes_.push_back(text); }

    void add_to(BenchReport& report) const;

  private:
    struct Cell {
        std::string text;
        double value = 0;  ///< 0: none
        double low = 0, high = 0;
        bool multiplied = false;
        double us_a_query = 0;  ///< 0: not to be compared
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
