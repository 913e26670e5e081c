#pragma once
/// The results of `bench`, the forms in which they are written, and the figures that the papers state beside them.

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "app/report/plot.h"
#include "data/core/bench.h"
#include "data/core/plan.h"
#include "data/core/timeline.h"

namespace knn {

/// The device of the serial search.
inline constexpr const char* one_cpu_thread = "cpu, 1 thread";

/// Times of repeated runs, in ms. The median of an even number of runs is the mean of the two in the middle.
struct Summary {
    double median = 0, min = 0, max = 0;
    int runs = 0;
};
/// All 0 if there is no run.
Summary summary_of(std::vector<double> ms);

/// One timed part of a search. If `left_out` is set, it was not run, for that reason; if `wrong` is set, its
/// answers differ from the reference, and its times are void.
struct Measurement {
    std::string experiment;            ///< "compare", or the case and its figure or table: "nolan 5.4"
    std::string part;                  ///< distance, select, search, kernels, upload, transform or rerank
    std::string name;                  ///< of the kernel, selector, engine, transform or re-ranker
    std::string on;                    ///< "gpu:0", "cpu", "cpu, 1 thread"
    Problem problem;                   ///< as requested
    std::int64_t n_query = 0;          ///< queries that each run answered
    std::vector<double> ms;            ///< of each run
    std::vector<double> kernels_ms;    ///< of a search on a GPU: kernel time of each run
    double open_ms = 0;                ///< of a search: opening the training set
    double bytes = 0, operations = 0;  ///< of a run; 0: not counted
    std::int64_t peak_bytes = 0;       ///< device memory of a run: matrix, neighbors, scratch; 0: not known
    std::int64_t right = 0;            ///< images of a test set that the neighbors of a run label right
    Timeline stages;                   ///< of a search or a program, in its last run
    std::string left_out, wrong;

    bool good() const { return !ms.empty() && wrong.empty(); }
    /// Whether only some of the queries were timed.
    bool partial() const { return good() && n_query < problem.n_query; }
    Summary summary() const { return summary_of(ms); }
    double us_per_query() const;
    /// The time of all queries for that of those that were timed; 0 if it is not good.
    double of_all(double time) const;
    double ms_of_all() const { return of_all(summary().median); }
    double gb_per_s() const { return per_ns(bytes); }
    double gflop_per_s() const { return per_ns(operations); }
    double per_ns(double amount) const;
};

/// The mark of extrapolated times, its meaning, and that of a time with the number of queries behind it.
inline constexpr const char
    *partial_mark = " *",
    *multiplied_note = "*: fewer queries were timed, and their time multiplied; --seconds gives more time.",
    *alone_note = "[n]: the time of n queries alone; there was no time for all (--seconds gives more).";

/// The share of a device limit that a measurement reached.
struct LimitShare {
    double share = 0;   ///< 0: no limit applies, or none was measured
    std::string limit;  ///< "memory", "arithmetic"; or the reason why none applies
};

/// A figure that a paper states, of its experiments or of others', as printed, even if the paper rounds or contradicts itself.
struct Figure {
    std::string source;  ///< seed and section or table: "seed 003, 4.1"
    std::string row;     ///< "large", "case 3"
    std::string column;  ///< "sequential time"
    std::string text;    ///< a number
    std::string unit;    ///< "ms", "s", "x" for a ratio, "" for a count

    double value() const;
};

/// A table as printed: the first column left-aligned, the others right-aligned.
struct BenchTable {
    std::string title;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows = {};
    std::vector<std::string> notes = {};  ///< one line each, below the table
};

/// What was not run, and why.
struct LeftOut {
    std::string name, reason;
};

struct BenchReport {
    std::string experiment = "compare";  ///< or the case
    std::string created;                 ///< ISO 8601, UTC
    std::string title;                   ///< one line: what is measured on what
    std::string data;                    ///< description of the images
    std::string checked;                 ///< how answers were checked
    std::vector<Device> devices;
    std::string gpu;  ///< "gpu:0"; empty: none
    Limits limits;    ///< of that GPU
    double cpu_copy_gb_per_s = 0;
    std::vector<Measurement> measurements;
    std::vector<BenchTable> tables;
    std::vector<Figure> quotes;
    std::vector<LeftOut> left_out;
    std::vector<Panel> panels;

    /// Records once what is missing and why.
    void leave_out(const std::string& name, const std::string& reason);
    bool wrong() const;
    bool has_time() const;
    /// What was measured in this figure under this name, of these images and, where there is one, this k; else one that
    /// was not run.
    Measurement measured(const std::string& figure, const std::string& name, const Problem& problem) const;
    LimitShare share_of(const Measurement& measured) const;
};

std::string bench_text(const BenchReport& report);
std::string bench_json(const BenchReport& report);

/// One line per measurement, then one for each omission without a measurement, such as a GPU.
void write_bench_csv(std::ostream& out, const BenchReport& report);

/// The time of all queries, marked if extrapolated; "WRONG" or "not run" if there is none.
std::string ms_cell(const Measurement& measured);
/// Adds a table to the report, with a note on the marks in it, if there are any.
void add_marked(BenchReport& report, BenchTable table);

/// What is counted and timed, in headings.
struct Unit {
    const char *many, *one;
};
inline constexpr Unit of_queries{"queries", "query"}, of_images{"images", "image"};

/// A group of measurements: a table with one row each, and a bar chart. All times of a row are those of all queries.
class Section {
  public:
    /// `first`: heading of the names; `more`: columns after those that every measurement has.
    Section(BenchReport& report, std::string title, const std::string& first,
            const std::vector<std::string>& more = {}, const Unit& unit = of_queries);

    /// One row; `more`: its cells in the columns of that name.
    void add(const Measurement& one, const std::vector<std::string>& more = {});
    /// Adds both to the report, the bars from the fastest to the slowest, with these lines below the table; nothing if
    /// there is no row.
    void finish(const std::vector<std::string>& notes = {});

  private:
    BenchReport& report_;
    BenchTable table_;
    Panel panel_;
    Unit unit_;
    bool partial_ = false;
};

/// The lines of figures.csv: what the seeds tabulate or say of times, speed-ups, rates and sizes. The text of 000 and 001 has no
/// values of their diagrams.
const std::vector<Figure>& paper_figures();

/// The figure with this source, row and column; null if the text does not state it.
const Figure* find_figure(std::string_view source, std::string_view row, std::string_view column);

/// All figures whose source begins with `source`, for the report.
std::vector<Figure> quotes_of(std::string_view source);

/// bench/figures.csv, embedded by CMake.
extern const std::string_view figures_csv;

}  // namespace knn
