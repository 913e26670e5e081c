#include "app/bench/report.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <tuple>

#include "app/report/csv.h"
#include "app/report/json.h"
#include "app/report/text.h"
#include "data/core/format.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

LimitShare within(double reached, double limit, const char* name, const char* above) {
    if (limit <= 0 || reached <= 0) return {};
    if (reached > limit) return {0, above};
    return {reached / limit, name};
}

void add_positive(Json& json, const char* name, double value) {
    if (value > 0) json[name] = value;
}

/// All that is known of a measurement, as in the JSON; the CSV has most of it.
Json record_of(const BenchReport& report, const Measurement& one) {
    const Measure& measure = one.problem.measure;
    Json json = {{"experiment", one.experiment},
                 {"part", one.part},
                 {"name", one.name},
                 {"device", one.on},
                 {"n_train", one.problem.n_train},
                 {"n_query", one.problem.n_query},
                 {"dim", one.problem.dim},
                 {"k", one.problem.k},
                 {"metric", name(measure.metric)}};
    if (measure.metric == Metric::lp) json["p"] = measure.p;
    json["status"] = one.good() ? "measured" : one.wrong.empty() ? "left out" : "wrong";
    if (!one.good()) {
        json["reason"] = one.wrong.empty() ? one.left_out : one.wrong;
        return json;
    }
    const Summary time = one.summary();
    json["queries_measured"] = one.n_query;
    json["runs"] = time.runs;
    json["median_ms"] = time.median;
    if (!one.kernels_ms.empty()) json["kernels_ms"] = summary_of(one.kernels_ms).median;
    add_positive(json, "open_ms", one.open_ms);
    json["min_ms"] = time.min;
    json["max_ms"] = time.max;
    json["us_per_query"] = one.us_per_query();
    add_positive(json, "gb_per_s", one.gb_per_s());
    add_positive(json, "gflop_per_s", one.gflop_per_s());
    if (one.peak_bytes > 0) json["peak_bytes"] = one.peak_bytes;
    const LimitShare share = report.share_of(one);
    if (share.share > 0) {
        json["limit"] = share.limit;
        json["share_of_limit"] = share.share;
    }
    return json;
}

Json limits_json(const BenchReport& report) {
    Json json = Json::object();
    add_positive(json, "gpu_copy_gb_per_s", report.limits.copy_gb_per_s);
    if (report.limits.cache_bytes > 0) json["gpu_cache_bytes"] = report.limits.cache_bytes;
    add_positive(json, "gpu_multiply_add_gflop_per_s", report.limits.multiply_add_gflop_per_s);
    add_positive(json, "pinned_upload_gb_per_s", report.limits.pinned_upload_gb_per_s);
    add_positive(json, "pageable_upload_gb_per_s", report.limits.pageable_upload_gb_per_s);
    add_positive(json, "cpu_thread_copy_gb_per_s", report.cpu_copy_gb_per_s);
    return json;
}

constexpr const char* csv_heading =
    "experiment,part,name,device,n_train,n_query,dim,k,metric,p,queries_measured,runs,median_ms,min_ms,max_"
    "ms,us_per_query,gb_per_s,gflop_per_s,limit,share,status,reason";

/// Times and rates have six significant digits; those that are 0 are not known.
std::string csv_cell(const Json& record, const std::string& column) {
    const auto found = record.find(column == "share" ? "share_of_limit" : column);
    if (found == record.end()) return "";
    if (found->is_string()) return text_cell(found->get<std::string>(), false);
    if (found->is_number_integer()) return std::to_string(found->get<std::int64_t>());
    const auto value = found->get<double>();
    if (column == "p") return shortest(value);
    if (value <= 0) return "";
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr};
}

void write_csv_row(std::ostream& out, const Json& record) {
    std::istringstream columns(csv_heading);
    const char* separator = "";
    for (std::string column; std::getline(columns, column, ','); separator = ",")
        out << separator << csv_cell(record, column);
    out << '\n';
}

bool has_row(const BenchReport& report, const LeftOut& left_out) {
    return std::ranges::any_of(report.measurements, [&](const Measurement& row) {
        return row.name == left_out.name && row.left_out == left_out.reason;
    });
}

std::string table_text(const BenchTable& shown) {
    std::vector<Align> columns(shown.columns.size(), Align::right);
    if (!columns.empty()) columns[0] = Align::left;
    Table table(columns);
    table.add(shown.columns);
    for (std::vector<std::string> row : shown.rows) {
        row.resize(columns.size());
        for (std::string& cell : row)
            cell = harmless(cell);
        table.add(std::move(row));
    }
    std::string text = shown.title + '\n' + table.text();
    for (const std::string& line : shown.notes)
        text += "  " + line + '\n';
    return text + '\n';
}

std::string limits_text(const BenchReport& report) {
    const Limits& limits = report.limits;
    if (limits.copy_gb_per_s <= 0) return "";
    return report.gpu + ": copy " + short_number(limits.copy_gb_per_s) +
           " GB/s read and written, multiply-add " + short_number(limits.multiply_add_gflop_per_s) +
           " GFLOP/s, upload " + short_number(limits.pinned_upload_gb_per_s) + " GB/s pinned, " +
           short_number(limits.pageable_upload_gb_per_s) + " pageable";
}

std::string head(const BenchReport& report) {
    Facts facts;
    for (const Device& device : report.devices)
        facts.emplace_back(device_id(device), harmless(device.name));
    const std::string of_gpu = limits_text(report);
    const bool has_cpu = report.cpu_copy_gb_per_s > 0;
    facts.emplace_back("data", harmless(report.data));
    facts.emplace_back("limits", of_gpu);
    facts.emplace_back(of_gpu.empty() ? "limits" : "", has_cpu ? std::string(one_cpu_thread) + ": copy " +
                                                                     short_number(report.cpu_copy_gb_per_s) +
                                                                     " GB/s read and written"
                                                               : "");
    facts.emplace_back("checked", report.checked);
    return facts_text(facts) + '\n';
}

std::string wrong_answers(const BenchReport& report) {
    if (!report.wrong()) return "";
    std::string text = "WRONG ANSWERS\n";
    for (const Measurement& one : report.measurements)
        if (!one.wrong.empty())
            text += "  " + one.name + " (" + one.experiment + ", " + one.part + "): " + one.wrong + '\n';
    return text + '\n';
}

/// One line for consecutive names that have the same reason.
std::string left_out_text(const std::vector<LeftOut>& left_out) {
    if (left_out.empty()) return "";
    std::string text = "left out\n";
    for (std::size_t i = 0; i < left_out.size(); ++i) {
        const LeftOut& one = left_out[i];
        const bool first = i == 0 || left_out[i - 1].reason != one.reason;
        const bool last = i + 1 == left_out.size() || left_out[i + 1].reason != one.reason;
        text += (first ? "  " : ", ") + one.name + (last ? ": " + harmless(one.reason) + '\n' : "");
    }
    return text + '\n';
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
            rate_text(one.gb_per_s()),
            rate_text(one.gflop_per_s()),
            share.share > 0 ? percent(share.share, 0) + " " + share.limit : share.limit};
}

}  // namespace

Summary summary_of(std::vector<double> ms) {
    if (ms.empty()) return {};
    std::sort(ms.begin(), ms.end());
    const std::size_t middle = ms.size() / 2;
    const double median = ms.size() % 2 == 1 ? ms[middle] : (ms[middle - 1] + ms[middle]) / 2;
    return {median, ms.front(), ms.back(), static_cast<int>(ms.size())};
}

double Measurement::us_per_query() const {
    return n_query > 0 ? summary().median * 1e3 / static_cast<double>(n_query) : 0;
}
double Measurement::of_all(double time) const {
    if (!good() || n_query == 0) return 0;
    return time * static_cast<double>(problem.n_query) / static_cast<double>(n_query);
}
double Measurement::per_ns(double amount) const {
    const double median = summary().median;
    return amount > 0 && median > 0 ? amount / median * 1e-6 : 0;
}

bool BenchReport::wrong() const {
    return std::ranges::any_of(measurements, [](auto& one) { return !one.wrong.empty(); });
}

bool BenchReport::has_time() const {
    return std::ranges::any_of(measurements, [](auto& one) { return !one.ms.empty(); });
}

Measurement BenchReport::measured(const std::string& figure, const std::string& name,
                                  const Problem& problem) const {
    const auto has_no_k = [](const std::string& part) { return part == "distance" || part == "upload"; };
    const auto images = [](const Problem& of) { return std::tuple(of.n_train, of.n_query, of.dim); };
    for (const Measurement& one : measurements)
        if (one.name == name && one.experiment == experiment + (figure.empty() ? "" : ' ' + figure) &&
            images(one.problem) == images(problem) && (has_no_k(one.part) || one.problem.k == problem.k))
            return one;
    return {};
}

void BenchReport::leave_out(const std::string& name, const std::string& reason) {
    for (const LeftOut& one : left_out)
        if (one.name == name && one.reason == reason) return;
    left_out.push_back({name, reason});
}

/// The direct form takes two instructions for three operations per distance and pixel, a subtraction and a
/// multiply-add, so it can reach three quarters of the multiply-add rate. The memory limit is that of a copy;
/// it does not apply to data that fits in the cache, nor to faster access, as reading alone may be.
LimitShare BenchReport::share_of(const Measurement& measured) const {
    constexpr double direct_form = 0.75, noise = 1.05;
    const bool counted = measured.part != "distance" || measured.operations > 0;
    if (!measured.good() || measured.part == "search" || !counted) return {};
    const bool on_gpu = measured.on == gpu && !gpu.empty();
    if (!on_gpu && measured.on != one_cpu_thread) return {};
    if (measured.part == "upload")
        return within(measured.gb_per_s(), on_gpu ? limits.pinned_upload_gb_per_s : 0, "link",
                      "faster than the limit's run");
    const double max_gflop_per_s = on_gpu ? direct_form * limits.multiply_add_gflop_per_s : 0;
    LimitShare arithmetic =
        within(measured.gflop_per_s(), max_gflop_per_s, "arithmetic",
               measured.gflop_per_s() > noise * max_gflop_per_s ? "not the direct form"
                                                                : "faster than the limit's run");
    if (arithmetic.share == 0 && !arithmetic.limit.empty()) return arithmetic;
    const double copy = on_gpu ? limits.copy_gb_per_s : cpu_copy_gb_per_s;
    LimitShare memory = within(measured.gb_per_s(), copy, "memory", "faster than a copy");
    if (on_gpu && measured.bytes < static_cast<double>(limits.cache_bytes)) memory = {0, "fits in the cache"};
    return arithmetic.share > memory.share ? arithmetic : memory;
}

std::string bench_text(const BenchReport& report) {
    std::string text = report.title + "\n\n" + head(report);
    for (const BenchTable& table : report.tables)
        text += table_text(table);
    text += wrong_answers(report) + left_out_text(report.left_out);
    text.pop_back();
    return text;
}

std::string bench_json(const BenchReport& report) {
    Json devices = Json::array(), measurements = Json::array(), tables = Json::array(),
         quotes = Json::array(), left_out = Json::array();
    for (const Device& device : report.devices)
        devices.push_back(json_device(device));
    for (const Measurement& one : report.measurements)
        measurements.push_back(record_of(report, one));
    for (const auto& [title, columns, rows, notes] : report.tables)
        tables.push_back({{"title", title}, {"columns", columns}, {"rows", rows}, {"notes", notes}});
    for (const auto& [source, row, column, text, unit] : report.quotes) {
        const std::string what = row + (column.empty() ? "" : ", ") + column;
        quotes.push_back({{"what", what}, {"text", text}, {"unit", unit}, {"source", source}});
    }
    for (const auto& [name, reason] : report.left_out)
        left_out.push_back({{"name", name}, {"reason", reason}});
    Json json = json_head("mnist-knn/bench/1");
    json.update({{"created", report.created},
                 {"case", report.experiment},
                 {"data", report.data},
                 {"devices", devices},
                 {"limits", limits_json(report)},
                 {"checked", report.checked},
                 {"correct", !report.wrong()},
                 {"measurements", measurements},
                 {"paper", quotes},
                 {"left_out", left_out},
                 {"tables", tables}});
    return json_text(json);
}

void write_bench_csv(std::ostream& out, const BenchReport& report) {
    out << csv_heading << '\n';
    for (const Measurement& one : report.measurements)
        write_csv_row(out, record_of(report, one));
    for (const LeftOut& one : report.left_out)
        if (!has_row(report, one))
            write_csv_row(out, {{"experiment", report.experiment},
                                {"name", one.name},
                                {"status", "left out"},
                                {"reason", one.reason}});
}

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
    table_.columns = {first,  unit.many, "ms",          "min to max", std::string("us/") + unit.one,
                      "GB/s", "GFLOP/s", "of the limit"};
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
