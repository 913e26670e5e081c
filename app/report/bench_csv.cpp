#include <charconv>
#include <ostream>

#include "app/options.h"
#include "app/report/bench.h"
#include "app/report/format.h"

namespace knn {

namespace {

/// In quotes where it has to be: a comma, a quote or a line feed in it.
std::string cell(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
}

/// Six significant digits, the same in every locale; empty for 0, which stands for "not known".
std::string number(double value) {
    if (value <= 0) return "";
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr};
}

}  // namespace

void write_bench_csv(std::ostream& out, const BenchReport& report) {
    out << "experiment,part,name,device,n_train,n_query,dim,k,metric,p,queries_measured,runs,median_ms,min_"
           "ms,max_ms,"
           "us_per_query,gb_per_s,gflop_per_s,limit,share,status,reason\n";
    for (const Measurement& one : report.measurements) {
        const bool good = one.good();
        const Spread spread = good ? one.spread() : Spread{};
        const LimitShare share = report.share_of(one);
        const std::string parts[] = {one.experiment,
                                     one.part,
                                     one.name,
                                     one.on,
                                     std::to_string(one.problem.n_train),
                                     std::to_string(one.problem.n_query),
                                     std::to_string(one.problem.dim),
                                     std::to_string(one.problem.k),
                                     name(one.problem.metric),
                                     one.problem.metric == Metric::lp ? shortest(one.problem.p) : "",
                                     good ? std::to_string(one.n_query) : "",
                                     good ? std::to_string(spread.runs) : "",
                                     number(spread.median),
                                     number(spread.low),
                                     number(spread.high),
                                     good ? number(one.us_a_query()) : "",
                                     good ? number(one.gb_per_s()) : "",
                                     good ? number(one.gflop_per_s()) : "",
                                     share.share > 0 ? share.limit : "",
                                     number(share.share),
                                     good                 ? "measured"
                                     : !one.wrong.empty() ? "wrong"
                                                          : "left out",
                                     !one.wrong.empty() ? one.wrong : one.left_out};
        const char* separator = "";
        for (const std::string& part : parts) {
            out << separator << cell(part);
            separator = ",";
        }
        out << '\n';
    }
}

}  // namespace knn
