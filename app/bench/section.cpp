#include "app/bench/section.h"

#include <algorithm>

#include "data/core/format.h"

namespace knn {

namespace {

PlotBar bar_of(const Measurement& one) {
    const Spread spread = one.spread();
    const double a_ms = spread.median > 0 ? one.us_per_query() / spread.median : 0;
    return {one.name + (one.partial() ? partial_mark : ""), one.us_per_query(), spread.low * a_ms,
            spread.high * a_ms, short_number(one.us_per_query())};
}

}  // namespace

std::string open_cell(const Measurement& one) {
    return one.good() ? short_number(one.open_ms) : "";
}
std::string kernels_cell(const Measurement& one) {
    return one.kernels_ms.empty() ? "" : short_number(spread_of(one.kernels_ms).median);
}

Section::Section(BenchRun& run, std::string title, const std::string& first,
                 const std::vector<std::string>& more, const Unit& unit)
    : run_(run), unit_(unit) {
    table_.title = std::move(title);
    table_.columns = measured_columns(unit);
    table_.columns.insert(table_.columns.begin(), first);
    table_.columns.insert(table_.columns.end(), more.begin(), more.end());
    panel_.title = table_.title.substr(0, table_.title.find(" ("));
    panel_.x_label =
        std::string("microseconds per ") + unit.one + ", logarithmic; whiskers: fastest and slowest run";
}

void Section::add(const Measurement& one, const std::vector<std::string>& more) {
    std::vector<std::string> row = measured_cells(run_.report(), one);
    row.resize(measured_columns().size());
    row.insert(row.begin(), one.name);
    row.insert(row.end(), more.begin(), more.end());
    row.resize(table_.columns.size());
    table_.rows.push_back(std::move(row));
    partial_ = partial_ || one.partial();
    if (one.good()) panel_.bars.push_back(bar_of(one));
}

void Section::finish() {
    if (table_.rows.empty()) return;
    if (partial_) {
        const std::string note = std::string("*: timed on fewer than all ") + unit_.many +
                                 ", limited by time (--seconds gives more) or memory.";
        table_.notes.push_back(note);
        panel_.notes.push_back(note);
    }
    std::sort(panel_.bars.begin(), panel_.bars.end(),
              [](const PlotBar& a, const PlotBar& b) { return a.value < b.value; });
    if (!panel_.bars.empty()) run_.report().panels.push_back(panel_);
    run_.report().tables.push_back(table_);
}

}  // namespace knn
