#include <charconv>
#include <ostream>

#include "app/bench/report.h"
#include "app/cli/options.h"
#include "data/core/format.h"

namespace knn {

namespace {

/// Quoted if necessary: if it has a comma, a quote or a line feed.
std::string cell(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
}

/// Six significant digits, the same in every locale; empty for 0, which means "not known".
std::string number(double value) {
    if (value <= 0) return "";
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr};
}

constexpr std::size_t n_columns = 22;
constexpr const char* left_out = "left out";

void write_row(std::ostream& out, const std::vector<std::string>& cells) {
    const char* separator = "";
    for (const std::string& one : cells) {
        out << separator << cell(one);
        separator = ",";
    }
    out << '\n';
}

std::vector<std::string> cells_of(const BenchReport& report, const Measurement& one) {
    const bool good = one.good();
    const Spread spread = good ? one.spread() : Spread{};
    const LimitShare share = report.share_of(one);
    return {one.experiment,
            one.part,
            one.name,
            one.on,
            std::to_string(one.problem.n_train),
            std::to_string(one.problem.n_query),
            std::to_string(one.problem.dim),
            std::to_string(one.problem.k),
            name(one.problem.measure.metric),
            one.problem.measure.metric == Metric::lp ? shortest(one.problem.measure.p) : "",
            good ? std::to_string(one.n_query) : "",
            good ? std::to_string(spread.runs) : "",
            number(spread.median),
            number(spread.low),
            number(spread.high),
            good ? number(one.us_per_query()) : "",
            good ? number(one.gb_per_s()) : "",
            good ? number(one.gflop_per_s()) : "",
            share.share > 0 ? share.limit : "",
            number(share.share),
            good                 ? "measured"
            : !one.wrong.empty() ? "wrong"
                                 : left_out,
            !one.wrong.empty() ? one.wrong : one.left_out};
}

}  // namespace

void write_bench_csv(std::ostream& out, const BenchReport& report) {
    write_row(out,
              {"experiment", "part",         "name",     "device",           "n_train", "n_query",   "dim",
               "k",          "metric",       "p",        "queries_measured", "runs",    "median_ms", "min_ms",
               "max_ms",     "us_per_query", "gb_per_s", "gflop_per_s",      "limit",   "share",     "status",
               "reason"});
    for (const Measurement& one : report.measurements)
        write_row(out, cells_of(report, one));
    for (const LeftOut& one : report.left_out_alone()) {
        std::vector<std::string> cells(n_columns);
        cells[0] = report.experiment;
        cells[2] = one.name;
        cells[n_columns - 2] = left_out;
        cells[n_columns - 1] = one.reason;
        write_row(out, cells);
    }
}

}  // namespace knn
