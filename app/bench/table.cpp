#include "app/bench/report.h"

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

std::string whole_number(double value) {
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
            whole_number(one.gb_per_s()),
            whole_number(one.gflop_per_s()),
            share.share > 0 ? percent(share.share, 0) + " " + share.limit : share.limit};
}

}  // namespace

std::string ms_cell(const Measurement& measured) {
    if (!measured.good()) return measured.wrong.empty() ? "not run" : "WRONG";
    return short_number(measured.ms_of_all()) + (measured.partial() ? partial_mark : "");
}

void add_marked(BenchReport& report, BenchTable table) {
    for (const auto& [mark, note] : {std::pair("]", alone_note), std::pair(partial_mark, multiplied_note)}) {
        const auto is_marked = [end = mark](const std::string& cell) { return cell.ends_with(end); };
        if (std::ranges::any_of(table.rows, [&](auto& row) { return std::ranges::any_of(row, is_marked); }))
            table.notes.insert(table.notes.begin(), note);
    }
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
    if (!one.good()) return;
    const Summary time = one.summary();
    const double us = 1e3 / static_cast<double>(one.n_query);
    panel_.bars.push_back({one.name + (one.partial() ? partial_mark : ""), time.median * us, time.min * us,
                           time.max * us, short_number(time.median * us)});
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

const std::vector<Figure>& paper_figures() {
    static const std::vector<Figure> figures = [] {
        std::vector<Figure> all;
        std::istringstream lines{std::string(figures_csv)};
        std::string line;
        std::getline(lines, line);  // the heading
        while (std::getline(lines, line)) {
            std::istringstream cells(line);
            Figure& one = all.emplace_back();
            std::string section;
            for (std::string* cell : {&one.source, &section, &one.row, &one.column, &one.text, &one.unit})
                std::getline(cells, *cell, ';');
            one.source += ", " + section;
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

std::vector<Figure> quotes_of(std::string_view source) {
    std::vector<Figure> quotes;
    std::copy_if(paper_figures().begin(), paper_figures().end(), std::back_inserter(quotes),
                 [&](const Figure& one) { return one.source.starts_with(source); });
    return quotes;
}

}  // namespace knn
