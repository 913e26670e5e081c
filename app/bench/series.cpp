#include "app/bench/series.h"

#include <algorithm>

#include "data/core/format.h"

namespace knn {

namespace {

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : "; ") + name;
    return text;
}

}  // namespace

Diagram::Diagram(std::string title, std::string x, std::string unit, std::vector<std::string> ways)
    : title_(std::move(title)), x_(std::move(x)), unit_(std::move(unit)), ways_(std::move(ways)) {}

const Diagram::Cell* Diagram::Row::find(const std::string& name) const {
    for (const auto& [key, cell] : cells)
        if (key == name) return &cell;
    return nullptr;
}

void Diagram::row(double x, const std::string& label) {
    rows_.push_back({x, label, {}});
}

void Diagram::value(const std::string& way, const Measurement& measured, double value) {
    Cell cell;
    const bool alike = measured.on == one_cpu_thread;
    if (measured.good()) {
        cell.text = short_number(value);
        if (measured.partial()) cell.text += " [" + std::to_string(measured.n_query) + "]";
        if (!measured.partial() || alike) cell.us_per_query = measured.us_per_query();
    } else {
        cell.text = !measured.wrong.empty() ? "WRONG" : "not run";
    }
    if (cell.us_per_query > 0) {
        const Spread spread = measured.spread();
        cell.value =
            value * static_cast<double>(measured.problem.n_query) / static_cast<double>(measured.n_query);
        const double scale = spread.median > 0 ? cell.value / spread.median : 1;
        cell.low = std::min(cell.value, spread.low * scale);
        cell.high = spread.high * scale;
        cell.multiplied = measured.partial();
    } else if (measured.good()) {
        not_drawn_.push_back(way + " at " + rows_.back().label);
    }
    some_partial_ = some_partial_ || measured.partial();
    some_multiplied_ = some_multiplied_ || cell.multiplied;
    rows_.back().cells.emplace_back(way, cell);
}

void Diagram::words(const std::string& column, const std::string& text) {
    if (std::find(extra_columns_.begin(), extra_columns_.end(), column) == extra_columns_.end())
        extra_columns_.push_back(column);
    rows_.back().cells.emplace_back(column, Cell{text});
}

void Diagram::ratio(const std::string& column, const std::string& of, const std::string& to) {
    const Cell *a = rows_.back().find(of), *b = rows_.back().find(to);
    const bool known = a != nullptr && b != nullptr && a->us_per_query > 0 && b->us_per_query > 0;
    words(column, known ? short_number(a->us_per_query / b->us_per_query) + " x" : "");
}

void Diagram::add_to(BenchReport& report) const {
    BenchTable table;
    table.title = title_ + " (" + unit_ + ")";
    table.columns = {x_};
    table.columns.insert(table.columns.end(), ways_.begin(), ways_.end());
    table.columns.insert(table.columns.end(), extra_columns_.begin(), extra_columns_.end());
    table.notes = notes_;
    if (some_partial_)
        table.notes.emplace_back(
            "[n]: the time of n queries alone; there was no time for all (--seconds gives more).");
    Panel panel;
    panel.title = title_;
    panel.x_label = x_;
    panel.y_label = unit_;
    if (some_multiplied_)
        panel.notes.emplace_back("hollow: a CPU thread, timed on fewer queries; their time is multiplied.");
    if (!not_drawn_.empty())
        panel.notes.push_back("not drawn, timed on fewer queries: " + listed(not_drawn_) + '.');
    for (const std::string& way : ways_)
        panel.lines.push_back({way, {}});
    for (const Row& row : rows_) {
        std::vector<std::string> cells = {row.label};
        for (std::size_t i = 1; i < table.columns.size(); ++i) {
            const Cell* cell = row.find(table.columns[i]);
            cells.push_back(cell != nullptr ? cell->text : "");
            if (cell != nullptr && cell->value > 0 && i <= ways_.size())
                panel.lines[i - 1].points.push_back(
                    {row.x, cell->value, cell->low, cell->high, cell->multiplied});
        }
        table.rows.push_back(std::move(cells));
    }
    std::erase_if(panel.lines, [](const PlotLine& line) { return line.points.empty(); });
    if (panel.lines.empty() && !not_drawn_.empty())
        report.leave_out("the plot of " + title_, "all of it was timed on fewer queries than all");
    report.tables.push_back(std::move(table));
    if (!panel.lines.empty()) report.panels.push_back(std::move(panel));
}

}  // namespace knn
