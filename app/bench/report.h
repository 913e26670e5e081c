#pragma once
/// What `bench` found, and the forms in which it is shown.

#include <iosfwd>
#include <string>
#include <vector>

#include "app/bench/statistics.h"
#include "app/report/plot.h"
#include "data/core/bench.h"
#include "data/core/device.h"

namespace knn {

/// Where the serial search runs.
inline constexpr const char* one_cpu_thread = "cpu, 1 thread";

/// One part of a search, timed. Where `left_out` says why, it was not; where `wrong` says what, its answers
/// were not those of the reference, and its times count for nothing.
struct Measurement {
    std::string experiment;            ///< "compare", or the case and its figure or table: "nolan 5.4"
    std::string part;                  ///< distance, select, search or upload
    std::string name;                  ///< of the kernel, selector or engine
    std::string on;                    ///< "gpu:0", "cpu", "cpu, 1 thread"
    Problem problem;                   ///< what was asked for
    std::int64_t n_query = 0;          ///< how many of its queries each run answered
    std::vector<double> ms;            ///< of each run
    std::vector<double> kernels_ms;    ///< of a search on a GPU: what its kernels took of each run
    double open_ms = 0;                ///< of a search: opening the training set
    double bytes = 0, operations = 0;  ///< of a run; 0: not counted
    std::string left_out, wrong;

    bool good() const { return !ms.empty() && wrong.empty(); }
    /// Whether it is of some of the queries only.
    bool partial() const { return good() && n_query < problem.n_query; }
    Spread spread() const { return spread_of(ms); }
    double ms_median() const { return spread().median; }
    double us_a_query() const;
    /// For all queries, multiplied where fewer were timed; 0 where it is not good.
    double ms_of_all() const;
    double gb_per_s() const;
    double gflop_per_s() const;
};

/// Behind what is of some of the queries only, and what it means.
inline constexpr const char
    *partial_mark = " *",
    *multiplied_note = "*: fewer queries were timed, and their time multiplied; --seconds gives more time.";

/// How much of what the device can do a measurement reached.
struct LimitShare {
    double share = 0;   ///< 0: no limit applies, or none was measured
    std::string limit;  ///< "memory", "arithmetic"; or why none applies
};

/// A figure of a paper beside ours.
struct Quote {
    std::string what, text, unit, source;  ///< text: as printed, or "not stated"
};

/// A table as it is printed: the first column to the left, the others to the right.
struct BenchTable {
    std::string title;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> notes;  ///< a line each, below
};

/// Says below the table what the marks in it mean, where there are some.
void note_marks(BenchTable& table);

/// What was not run, and why.
struct LeftOut {
    std::string name, reason;
};

struct BenchReport {
    std::string experiment = "compare";  ///< or the case
    std::string created;                 ///< ISO 8601, UTC
    std::string title;                   ///< one line: what is measured on what
    std::string data;                    ///< what the images are
    std::string checked;                 ///< how answers were judged
    std::vector<Device> devices;
    std::string gpu;  ///< "gpu:0"; empty: none
    Limits limits;    ///< of that GPU
    double cpu_copy_gb_per_s = 0;
    std::vector<Measurement> measurements;
    std::vector<BenchTable> tables;
    std::vector<Quote> quotes;
    std::vector<LeftOut> left_out;
    std::vector<Panel> panels;

    /// Says once what is not there and why.
    void leave_out(const std::string& name, const std::string& reason);
    bool wrong() const;
    /// Of what is left out, that which has no row among the measurements.
    std::vector<LeftOut> left_out_alone() const;
    LimitShare share_of(const Measurement& measured) const;
};

std::string bench_text(const BenchReport& report);
std::string bench_json(const BenchReport& report);

/// One line a measurement, then one for what was left out and is none, such as a GPU:
/// experiment,part,name,device,n_train,n_query,dim,k,metric,p,queries_measured,runs,median_ms,
/// min_ms,max_ms,us_per_query,gb_per_s,gflop_per_s,limit,share,status,reason.
void write_bench_csv(std::ostream& out, const BenchReport& report);

/// The cells of a measurement: queries, with a mark where they are not all, median, min to max, time of a
/// query, GB/s, GFLOP/s, share.
std::vector<std::string> measured_cells(const BenchReport& report, const Measurement& measured);
/// A time for all queries, with a mark where it was multiplied; "WRONG" or "not run" where there is none.
std::string ms_cell(const Measurement& measured);
/// Their headings, with "queries" first.
std::vector<std::string> measured_columns();

}  // namespace knn
