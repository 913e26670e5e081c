// Seed 001, Figs. 4 to 9: selection only, from rows of uniformly random values. Its text lacks the formulas
// with the sizes and the speed-ups, so the sizes here are ours and the paper's values "not stated".

#include "app/bench/run.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr double figure_share = 0.1;  // of the time of a row
constexpr const char* ours = "multiselect";

/// A figure: the paper's selector and its rivals over one varying size, with a line for each k.
struct SelectorFigure {
    std::string number, title;         ///< number: of the paper's figure, or a word
    const char* rivals;                ///< selectors, separated by blanks
    std::string x;                     ///< the size that varies: "queries" or "row length"
    std::vector<std::int64_t> values;  ///< of it
    std::int64_t other;                ///< the other size; 0: 2^26 values in all
    std::vector<int> ks = {16, 128, 512, 1024};
    std::vector<std::string> notes = {};
    bool per_query = false;

    Problem problem(std::int64_t value, int k) const {
        const std::int64_t second = other > 0 ? other : (std::int64_t{1} << 26) / value;
        return x == "queries" ? Problem{second, value, 1, k} : Problem{value, second, 1, k};
    }
    std::string heading() const { return number.size() == 1 ? "Fig. " + number : number; }
    /// Those of its selectors that are wanted and can run.
    std::vector<std::string> names(const BenchRun& run) const {
        std::vector<std::string> all = run.wanted(words_of(std::string(ours) + ' ' + rivals));
        if (!run.has_gpu()) std::erase_if(all, [](const std::string& name) { return name != "nth_element"; });
        return all;
    }
};

/// Without a GPU the last one alone.
std::vector<SelectorFigure> comparisons(bool has_gpu) {
    const std::vector<std::int64_t> lengths = {4096, 16'384, 65'536, 262'144},
                                    of_constant = {1024, 8192, 65'536, 524'288};
    const SelectorFigure last = {
        "9",           "row length varied, 128 queries, against nth_element on one CPU thread",
        "nth_element", "row length",
        lengths,       128};
    if (!has_gpu) return {last};
    return {{"4", "row length varied, 1,024 queries, against Garcia's insertion", "insertion", "row length",
             lengths, 1024},
            {"5",
             "queries varied, rows of 16,384, against Garcia's insertion",
             "insertion",
             "queries",
             {128, 512, 2048, 8192},
             16'384},
            {"6", "2^26 values in all, row length varied, against Sismanis' truncated bitonic sort",
             "bitonic_topk", "row length", of_constant, 0},
            {"7",
             "2^26 values in all, row length varied, k neighbors against the k-th alone",
             "radix_kth bucket_kth quick_kth",
             "row length",
             of_constant,
             0,
             {16, 1024},
             {"The paper compares with radix and bucket select for one row at a time, of values without "
              "indices;",
              "here all rows are selected from at once, and ties are in the order of indices."}},
            {.number = "8",
             .title = "queries varied, rows of 65,536, time of one query",
             .rivals = "",
             .x = "queries",
             .values = {8, 32, 64, 128, 256, 1024, 4096},
             .other = 65'536,
             .notes = {"The paper: the time of a query flattens out at 128 queries, when every block has "
                       "work."},
             .per_query = true},
            {"pivots", "row length varied, 1,024 queries, sampled against random as in the paper",
             "multiselect_random", "row length", lengths, 1024},
            last};
}

/// A sample of the rows is compared with nth_element; some selectors find the k-th neighbor of a row alone.
Measurement on_gpu(BenchRun& run, const std::string& name, const Problem& problem, BenchArrays& arrays) {
    const bool kth_alone = name.ends_with("_kth");
    const Trial timed = arrays.time_select(name, problem.k, run.trial(figure_share));
    Measurement& one = run.keep("select", name, run.report.gpu, problem, timed, [&](std::int64_t n) {
        const Neighbors found = arrays.neighbors(n);
        for (const std::int64_t q : sample(n, sampled))
            if (!agrees_with_nth_element(arrays.matrix_row(q), found.row(q), kth_alone ? problem.k - 1 : 0))
                return "row " + std::to_string(q) + " has other neighbors than by nth_element";
        return std::string();
    });
    if (kth_alone) one.bytes -= 8 * static_cast<double>(one.n_query) * (problem.k - 1);
    return one;
}

Measurement on_cpu(BenchRun& run, const Problem& problem) {
    const cpu::SerialSelector& baseline = cpu::serial_selectors().front();
    const auto fill = [](std::int64_t q, std::span<std::uint32_t> row) {
        for (std::size_t t = 0; t < row.size(); ++t)
            row[t] = static_cast<std::uint32_t>(random_value(static_cast<std::uint64_t>(q), t) >> 32);
    };
    const Trial timed =
        cpu::time_serial_select(problem, fill, baseline, run.trial(figure_share), run.token).select;
    return run.keep("select", baseline.name, one_cpu_thread, problem, timed);
}

void measure(BenchRun& run, const SelectorFigure& shown) {
    const std::vector<std::string> names = shown.names(run), rivals = words_of(shown.rivals);
    if (names.empty()) return run.report.leave_out(shown.heading(), "--only names none of its rows");
    const auto way = [](const std::string& name, int k) { return name + ", k = " + std::to_string(k); };
    std::vector<std::string> ways;
    for (const std::string& name : names)
        for (const int k : shown.ks)
            ways.push_back(way(name, k));
    run.figure(shown.number);
    Diagram diagram(shown.heading() + ": " + shown.title, shown.x, shown.per_query ? "us per query" : "ms",
                    ways);
    for (const std::int64_t value : shown.values) {
        std::unique_ptr<BenchArrays> arrays;
        if (run.has_gpu())
            arrays = gpu_bench()->arrays(run.gpu(), shown.problem(value, shown.ks.back()), {}, {}, run.token);
        diagram.row(static_cast<double>(value), with_commas(value));
        for (const int k : shown.ks) {
            const Problem problem = shown.problem(value, k);
            for (const std::string& name : names) {
                const Measurement one =
                    name == "nth_element" ? on_cpu(run, problem) : on_gpu(run, name, problem, *arrays);
                diagram.value(way(name, k), one, shown.per_query ? one.us_per_query() : one.summary().median);
            }
            for (const std::string& rival : rivals)
                if (names.size() > 1)
                    diagram.ratio("speed-up" + (rivals.size() > 1 ? " over " + rival : "") +
                                      ", k = " + std::to_string(k),
                                  way(rival, k), way(ours, k));
        }
        diagram.words("paper", "not stated");
    }
    diagram.add_to(run.report);
    std::vector<std::string>& notes = run.report.tables.back().notes;
    notes.insert(notes.end(), shown.notes.begin(), shown.notes.end());
}

}  // namespace

void run_komarov(BenchRun& run) {
    BenchReport& report = run.report;
    report.data = "rows of uniformly random 32-bit values with their indices";
    report.checked = "a sample of the rows against nth_element";
    report.quotes = {
        {"seed 001, Results: formulas missing", "sizes and speed-ups of Figs. 4 to 9", "", "not stated", ""},
        {"seed 001, Discussion", "thread blocks from which the GPU is full", "", "128", ""}};
    if (!run.has_gpu()) {
        run.not_run("select",
                    run.wanted(words_of("multiselect multiselect_random insertion bitonic_topk radix_kth "
                                        "bucket_kth quick_kth")),
                    {65'536, 1024, 1, 128});
        run.report.leave_out("Figs. 4 to 8, pivots", "they compare selectors of a GPU");
    }
    const std::vector<SelectorFigure> all = comparisons(run.has_gpu());
    for (const SelectorFigure& one : all)
        run.expect(std::ssize(one.names(run)) * std::ssize(one.ks) * std::ssize(one.values));
    for (const SelectorFigure& one : all)
        measure(run, one);
    if (!report.tables.empty()) report.tables.back().notes.push_back("The sizes of all figures are ours.");
}

}  // namespace knn
