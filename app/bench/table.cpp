#include "app/bench/table.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "data/core/format.h"

namespace knn {

namespace {

/// The columns of every measurement, after its name.
std::vector<std::string> columns_of(const Unit& unit) {
    return {unit.many, "ms", "min to max", std::string("us/") + unit.one, "GB/s", "GFLOP/s", "of the limit"};
}

std::string rounded(double value) {
    return value > 0 ? short_number(value) : "";
}

std::vector<std::string> cells_of(const BenchReport& report, const Measurement& one) {
    if (!one.good()) return {"", ms_cell(one)};
    const std::string mark = one.partial() ? partial_mark : "";
    const Summary time = one.summary();
    const LimitShare share = report.share_of(one);
    return {with_commas(one.n_query) + mark,
            ms_cell(one),
            short_number(one.of_all(time.min)) + " to " + short_number(one.of_all(time.max)) + mark,
            short_number(one.us_per_query()),
            rounded(one.gb_per_s()),
            rounded(one.gflop_per_s()),
            share.share > 0 ? percent(share.share, 0) + " " + share.limit : share.limit};
}

PlotBar bar_of(const Measurement& one) {
    const Summary time = one.summary();
    const double us_per_ms = 1e3 / static_cast<double>(one.n_query);
    return {one.name + (one.partial() ? partial_mark : ""), one.us_per_query(), time.min * us_per_ms,
            time.max * us_per_ms, short_number(one.us_per_query())};
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : "; ") + name;
    return text;
}

}  // namespace

std::string ms_cell(const Measurement& measured) {
    if (!measured.good()) return measured.wrong.empty() ? "not run" : "WRONG";
    return short_number(measured.ms_of_all()) + (measured.partial() ? partial_mark : "");
}

void add_marked(BenchReport& report, BenchTable table) {
    const auto is_marked = [](const std::string& cell) { return cell.ends_with(partial_mark); };
    if (std::any_of(table.rows.begin(), table.rows.end(),
                    [&](const auto& row) { return std::any_of(row.begin(), row.end(), is_marked); }))
        table.notes.insert(table.notes.begin(), multiplied_note);
    report.tables.push_back(std::move(table));
}

Section::Section(BenchReport& report, std::string title, const std::string& first,
                 const std::vector<std::string>& more, const Unit& unit)
    : report_(report), unit_(unit) {
    table_.title = std::move(title);
    table_.columns = columns_of(unit);
    table_.columns.insert(table_.columns.begin(), first);
    table_.columns.insert(table_.columns.end(), more.begin(), more.end());
    panel_.title = table_.title.substr(0, table_.title.find(" ("));
    panel_.x_label =
        std::string("microseconds per ") + unit.one + ", logarithmic; whiskers: fastest and slowest run";
}

void Section::add(const Measurement& one, const std::vector<std::string>& more) {
    std::vector<std::string> row = cells_of(report_, one);
    row.insert(row.begin(), one.name);
    row.resize(table_.columns.size() - more.size());
    row.insert(row.end(), more.begin(), more.end());
    table_.rows.push_back(std::move(row));
    partial_ = partial_ || one.partial();
    if (one.good()) panel_.bars.push_back(bar_of(one));
}

void Section::finish(const std::vector<std::string>& notes) {
    if (table_.rows.empty()) return;
    table_.notes = notes;
    if (partial_) {
        const std::string note = std::string("*: timed on fewer than all ") + unit_.many +
                                 ", limited by time (--seconds gives more) or memory";
        table_.notes.push_back(note + "; times are multiplied.");
        panel_.notes.push_back(note + '.');
    }
    std::sort(panel_.bars.begin(), panel_.bars.end(),
              [](const PlotBar& a, const PlotBar& b) { return a.value < b.value; });
    if (!panel_.bars.empty()) report_.panels.push_back(panel_);
    report_.tables.push_back(table_);
}

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
    Cell cell{ms_cell(measured)};
    if (measured.good()) {
        cell.text = short_number(value);
        if (measured.partial()) cell.text += " [" + std::to_string(measured.n_query) + "]";
    }
    const bool comparable = measured.good() && (!measured.partial() || measured.on == one_cpu_thread);
    if (comparable && measured.us_per_query() > 0) {
        const Summary time = measured.summary();
        cell.us_per_query = measured.us_per_query();
        const double y = measured.of_all(value), scale = time.median > 0 ? y / time.median : 1;
        cell.point = {rows_.back().x, y, std::min(y, time.min * scale), time.max * scale, measured.partial()};
    } else if (measured.good()) {
        not_drawn_.push_back(way + " at " + rows_.back().label);
    }
    some_partial_ = some_partial_ || measured.partial();
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

const std::vector<Figure>& paper_figures() {
    static const std::vector<Figure> figures = [] {
        std::vector<Figure> all;
        std::istringstream lines{std::string(figures_csv)};
        std::string line;
        std::getline(lines, line);  // the heading
        while (std::getline(lines, line)) {
            std::istringstream cells(line);
            Figure& one = all.emplace_back();
            for (std::string* cell : {&one.source, &one.row, &one.column, &one.text, &one.unit})
                std::getline(cells, *cell, ';');
        }
        return all;
    }();
    return figures;
}

double Figure::value() const {
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

const Figure* find_figure(std::string_view source, std::string_view row, std::string_view column) {
    const std::vector<Figure>& all = paper_figures();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Figure& one) {
        return one.source == source && one.row == row && one.column == column;
    });
    return found != all.end() ? &*found : nullptr;
}

std::string stated(std::string_view source, std::string_view row, std::string_view column) {
    const Figure* found = find_figure(source, row, column);
    return found != nullptr ? found->text : "not stated";
}

std::vector<Quote> quotes_of(std::string_view source) {
    std::vector<Quote> quotes;
    for (const Figure& one : paper_figures())
        if (one.source.starts_with(source))
            quotes.push_back({one.row + ", " + one.column, one.text, one.unit, one.source});
    return quotes;
}

void Diagram::add_to(BenchReport& report) const {
    BenchTable table{title_ + " (" + unit_ + ")", {x_}, {}, notes_};
    table.columns.insert(table.columns.end(), ways_.begin(), ways_.end());
    table.columns.insert(table.columns.end(), extra_columns_.begin(), extra_columns_.end());
    if (some_partial_)
        table.notes.emplace_back(
            "[n]: the time of n queries alone; there was no time for all (--seconds gives more).");
    Panel panel{.title = title_, .x_label = x_, .y_label = unit_, .lines = {}, .bars = {}, .notes = {}};
    for (const std::string& way : ways_)
        panel.lines.push_back({way, {}});
    bool some_hollow = false;
    for (const Row& row : rows_) {
        std::vector<std::string> cells = {row.label};
        for (std::size_t i = 1; i < table.columns.size(); ++i) {
            const Cell* cell = row.find(table.columns[i]);
            cells.push_back(cell != nullptr ? cell->text : "");
            if (cell == nullptr || cell->point.y <= 0) continue;
            panel.lines[i - 1].points.push_back(cell->point);
            some_hollow = some_hollow || cell->point.hollow;
        }
        table.rows.push_back(std::move(cells));
    }
    if (some_hollow)
        panel.notes.emplace_back("hollow: a CPU thread, timed on fewer queries; their time is multiplied.");
    if (!not_drawn_.empty())
        panel.notes.push_back("not drawn, timed on fewer queries: " + listed(not_drawn_) + '.');
    std::erase_if(panel.lines, [](const PlotLine& line) { return line.points.empty(); });
    if (panel.lines.empty() && !not_drawn_.empty())
        report.leave_out("the plot of " + title_, "all of it was timed on fewer queries than all");
    report.tables.push_back(std::move(table));
    if (!panel.lines.empty()) report.panels.push_back(std::move(panel));
}

}  // namespace knn
