#include "app/bench/table.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "app/cli/values.h"
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
    const LimitShare share = report.share_of(one);
    return {with_commas(one.n_query) + mark,
            ms_cell(one),
            range_cell(one, one.of_all(1)) + mark,
            short_number(one.us_per_query()),
            rounded(one.gb_per_s()),
            rounded(one.gflop_per_s()),
            share.share > 0 ? percent(share.share, 0) + " " + share.limit : share.limit};
}

}  // namespace

std::string ms_cell(const Measurement& measured) {
    if (!measured.good()) return measured.wrong.empty() ? "not run" : "WRONG";
    return short_number(measured.ms_of_all()) + (measured.partial() ? partial_mark : "");
}

TotalTime time_of(const BenchReport& report, const std::string& figure, const std::string& parts) {
    TotalTime time;
    bool partial = false;
    for (const std::string& part : words_of(parts)) {
        const Measurement one = report.measured(figure, part);
        if (!one.good()) return {0, ms_cell(one)};
        time.ms += one.ms_of_all();
        partial = partial || one.partial();
    }
    time.cell = short_number(time.ms) + (partial ? partial_mark : "");
    return time;
}

std::string range_cell(const Measurement& measured, double scale) {
    if (!measured.good()) return "";
    const Summary time = measured.summary();
    return short_number(time.min * scale) + " to " + short_number(time.max * scale);
}

PlotBar bar_of(const Measurement& measured, const std::string& name, double scale, const char* unit) {
    const Summary time = measured.summary();
    const double median = time.median * scale;
    return {name + (measured.partial() ? partial_mark : ""), median, time.min * scale, time.max * scale,
            short_number(median) + unit};
}

std::string ratio_cell(double a, double b, const char* unit) {
    return a > 0 && b > 0 ? short_number(a / b) + unit : "";
}

void add_marked(BenchReport& report, BenchTable table) {
    const auto is_marked = [](const std::string& cell) { return cell.ends_with(partial_mark); };
    if (std::ranges::any_of(table.rows, [&](auto& row) { return std::ranges::any_of(row, is_marked); }))
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
    if (one.good()) panel_.bars.push_back(bar_of(one, one.name, 1e3 / static_cast<double>(one.n_query), ""));
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
    : table_{title + " (" + unit + ")", std::move(ways)}, panel_{std::move(title), x, unit} {
    for (const std::string& way : table_.columns)
        panel_.lines.push_back({way, {}});
    table_.columns.insert(table_.columns.begin(), std::move(x));
}

void Diagram::row(double x, const std::string& label) {
    x_ = x;
    us_per_query_.clear();
    table_.rows.push_back({label});
}

std::string& Diagram::cell(const std::string& column) {
    std::vector<std::string>&columns = table_.columns, &cells = table_.rows.back();
    const auto found = std::find(columns.begin() + 1, columns.end(), column);
    const auto at = static_cast<std::size_t>(found - columns.begin());
    if (found == columns.end()) columns.push_back(column);
    cells.resize(std::max(cells.size(), at + 1));
    return cells[at];
}

void Diagram::value(const std::string& way, const Measurement& measured, double value) {
    std::string& text = cell(way);
    text = ms_cell(measured);
    if (!measured.good()) return;
    text = short_number(value);
    if (measured.partial()) text += " [" + std::to_string(measured.n_query) + "]";
    some_partial_ = some_partial_ || measured.partial();
    const bool comparable = !measured.partial() || measured.on == one_cpu_thread;
    if (!comparable || measured.us_per_query() <= 0) {
        not_drawn_ += (not_drawn_.empty() ? "" : "; ") + way + " at " + table_.rows.back()[0];
        return;
    }
    us_per_query_[way] = measured.us_per_query();
    const Summary time = measured.summary();
    const double y = measured.of_all(value), scale = y / time.median;
    const auto line = std::find_if(panel_.lines.begin(), panel_.lines.end(),
                                   [&](const PlotLine& one) { return one.name == way; });
    line->points.push_back({x_, y, std::min(y, time.min * scale), time.max * scale, measured.partial()});
    some_hollow_ = some_hollow_ || measured.partial();
}

void Diagram::words(const std::string& column, const std::string& text) {
    cell(column) = text;
}

void Diagram::ratio(const std::string& column, const std::string& of, const std::string& to) {
    words(column, ratio_cell(us_per_query_[of], us_per_query_[to], " x"));
}

void Diagram::add_to(BenchReport& report) {
    for (std::vector<std::string>& row : table_.rows)
        row.resize(table_.columns.size());
    if (some_partial_)
        note("[n]: the time of n queries alone; there was no time for all (--seconds gives more).");
    if (some_hollow_)
        panel_.notes.emplace_back("hollow: a CPU thread, timed on fewer queries; their time is multiplied.");
    if (!not_drawn_.empty()) panel_.notes.push_back("not drawn, timed on fewer queries: " + not_drawn_ + '.');
    std::erase_if(panel_.lines, [](const PlotLine& line) { return line.points.empty(); });
    if (panel_.lines.empty() && !not_drawn_.empty())
        report.leave_out("the plot of " + panel_.title, "all of it was timed on fewer queries than all");
    report.tables.push_back(std::move(table_));
    if (!panel_.lines.empty()) report.panels.push_back(std::move(panel_));
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
    for (const Figure& one : paper_figures())
        if (one.source == source && one.row == row && one.column == column) return &one;
    return nullptr;
}

std::string stated(std::string_view source, std::string_view row, std::string_view column) {
    const Figure* found = find_figure(source, row, column);
    return found != nullptr ? found->text : "not stated";
}

std::vector<Figure> quotes_of(std::string_view source) {
    std::vector<Figure> quotes;
    std::copy_if(paper_figures().begin(), paper_figures().end(), std::back_inserter(quotes),
                 [&](const Figure& one) { return one.source.starts_with(source); });
    return quotes;
}

}  // namespace knn
