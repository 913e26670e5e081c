// Seed 001, Figs. 4 to 9: selection only, from rows of uniformly random values. Its text lacks the formulas
// with the sizes and the speed-ups, so the sizes here are ours and the paper's values "not stated".

#include <array>

#include "app/bench/run.h"
#include "app/bench/table.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr const char* random_pivot = "multiselect_random";
constexpr std::array<const char*, 3> only_kth = {"radix_kth", "bucket_kth", "quick_kth"};

struct Point {
    std::int64_t n_query, n_train;
    int k;
};

class Komarov {
  public:
    explicit Komarov(BenchRun& run) : run_(run) {
        if (run.has_gpu()) return;
        std::vector<std::string> names;
        for (const char* name :
             {ours, random_pivot, "insertion", "bitonic_topk", only_kth[0], only_kth[1], only_kth[2]})
            if (run.wants(name)) names.emplace_back(name);
        run.need_gpu("select", names, {65'536, 1024, 1, 128});
    }

    /// `number`: of the paper's figure, or a word. `rivals`: the comparison. `x`: the size that varies; one line per k.
    void figure(const std::string& number, const std::string& title, const std::vector<std::string>& rivals,
                const std::string& x, const std::vector<Point>& points, bool per_query = false) {
        const std::string heading = number.size() == 1 ? "Fig. " + number : number;
        std::vector<std::string> ways, all = rivals, names;
        all.insert(all.begin(), ours);
        for (const std::string& name : all)
            if (run_.wants(name) && (run_.has_gpu() || name == "nth_element")) names.push_back(name);
        if (names.empty()) return run_.leave_out(heading, "--only names none of its rows");
        std::vector<int> ks;
        for (const Point& point : points)
            if (std::find(ks.begin(), ks.end(), point.k) == ks.end()) ks.push_back(point.k);
        for (const std::string& name : names)
            for (const int k : ks)
                ways.push_back(way(name, k));
        run_.figure(number);
        Diagram diagram(heading + ": " + title, x, per_query ? "us per query" : "ms", ways);
        std::unique_ptr<BenchArrays> arrays;
        Point made{0, 0, 0};
        for (const Point& point : points) {
            const bool same = made.n_query == point.n_query && made.n_train == point.n_train;
            const Problem problem{point.n_train, point.n_query, 1, point.k};
            if (!same) {
                arrays.reset();
                arrays = random_arrays({point.n_train, point.n_query, 1, ks.back()});
                const std::int64_t value = x == "queries" ? point.n_query : point.n_train;
                diagram.row(static_cast<double>(value), with_commas(value));
                made = point;
            }
            for (const std::string& name : names)
                measure(diagram, name, problem, arrays.get(), per_query);
            for (const std::string& rival : rivals)
                if (names.size() > 1)
                    diagram.ratio("speed-up" + (rivals.size() > 1 ? " over " + rival : "") +
                                      ", k = " + std::to_string(point.k),
                                  way(rival, point.k), way(ours, point.k));
            if (point.k == ks.back()) diagram.words("paper", "not stated");
        }
        diagram.add_to(run_.report());
    }

    /// Adds a note to the last table.
    void note(const std::string& text) {
        if (!run_.report().tables.empty()) run_.report().tables.back().notes.push_back(text);
    }

  private:
    static std::string way(const std::string& name, int k) { return name + ", k = " + std::to_string(k); }

    std::unique_ptr<BenchArrays> random_arrays(const Problem& problem) const {
        constexpr std::uint64_t seed = 9;
        return run_.has_gpu() ? gpu_bench()->random_arrays(run_.gpu(), problem, seed, run_.watch()) : nullptr;
    }

    void measure(Diagram& diagram, const std::string& name, const Problem& problem, BenchArrays* arrays,
                 bool per_query) {
        const bool serial = name == "nth_element";
        if (!serial && arrays == nullptr) return;
        const Measurement one = serial ? on_cpu(problem) : on_gpu(name, problem, *arrays);
        diagram.value(way(name, problem.k), one, per_query ? one.us_per_query() : one.summary().median);
    }

    /// A sample of the rows is compared with nth_element; some selectors find the k-th neighbor of a row alone.
    Measurement on_gpu(const std::string& name, const Problem& problem, BenchArrays& arrays) {
        const bool kth_alone = name.ends_with("_kth");
        const Trial timed = arrays.time_select(name, problem.k, run_.trial(share));
        return run_.keep(run_.row("select", name, run_.report().gpu, problem), timed, [&](Measurement& one) {
            const Neighbors found = arrays.neighbors(one.n_query);
            for (const std::int64_t q : sample(one.n_query, sampled))
                if (!agrees_with_nth_element(arrays.matrix_row(q), found.row(q),
                                             kth_alone ? problem.k - 1 : 0))
                    one.wrong = "row " + std::to_string(q) + " has other neighbors than by nth_element";
            count_selection(one, kth_alone ? 1 : problem.k);
        });
    }

    Measurement on_cpu(const Problem& problem) {
        const cpu::SerialSelector& baseline = cpu::serial_selectors().front();
        const auto fill = [](std::int64_t q, std::span<std::uint32_t> row) {
            for (std::size_t t = 0; t < row.size(); ++t)
                row[t] = static_cast<std::uint32_t>(random_value(static_cast<std::uint64_t>(q), t) >> 32);
        };
        const Trial timed =
            cpu::time_serial_select(problem, fill, baseline, run_.trial(share), run_.watch()).select;
        return run_.keep(run_.row("select", baseline.name, one_cpu_thread, problem), timed,
                         [&](Measurement& one) { count_selection(one, problem.k); });
    }

    static constexpr double share = 0.1;  // of the time of a row
    static constexpr const char* ours = "multiselect";
    BenchRun& run_;
};

/// All combinations of k and size; `sizes`: (queries, row length).
std::vector<Point> points(const std::vector<std::pair<std::int64_t, std::int64_t>>& sizes,
                          const std::vector<int>& ks) {
    std::vector<Point> all;
    for (const auto& [n_query, n_train] : sizes)
        for (const int k : ks)
            all.push_back({n_query, n_train, k});
    return all;
}

}  // namespace

void run_komarov(BenchRun& run) {
    BenchReport& report = run.report();
    report.data = "rows of uniformly random 32-bit values with their indices";
    report.checked = "a sample of the rows against nth_element";
    report.quotes = {
        {"sizes and speed-ups of Figs. 4 to 9", "not stated", "", "seed 001, Results: formulas missing"},
        {"thread blocks from which the GPU is full", "128", "", "seed 001, Discussion"}};
    Komarov komarov(run);
    std::vector<std::pair<std::int64_t, std::int64_t>> by_row, by_query, constant, few, serial;
    for (const std::int64_t n : {4096, 16'384, 65'536, 262'144}) {
        by_row.emplace_back(1024, n);
        serial.emplace_back(128, n);
    }
    for (const std::int64_t n : {128, 512, 2048, 8192})
        by_query.emplace_back(n, 16'384);
    for (const std::int64_t n : {1024, 8192, 65'536, 524'288})
        constant.emplace_back((std::int64_t{1} << 26) / n, n);
    for (const std::int64_t n : {8, 32, 64, 128, 256, 1024, 4096})
        few.emplace_back(n, 65'536);
    const std::vector<int> ks = {16, 128, 512, 1024};
    const std::size_t pairs =
        by_row.size() + by_query.size() + constant.size() + by_row.size();  // of two selectors
    const std::size_t on_gpu =
        ks.size() * (2 * (pairs + serial.size()) + few.size()) + 2 * (1 + only_kth.size()) * constant.size();
    run.expect(static_cast<std::int64_t>(run.has_gpu() ? on_gpu : ks.size() * serial.size()));
    if (run.has_gpu()) {
        komarov.figure("4", "row length varied, 1,024 queries, against Garcia's insertion", {"insertion"},
                       "row length", points(by_row, ks));
        komarov.figure("5", "queries varied, rows of 16,384, against Garcia's insertion", {"insertion"},
                       "queries", points(by_query, ks));
        komarov.figure("6", "2^26 values in all, row length varied, against Sismanis' truncated bitonic sort",
                       {"bitonic_topk"}, "row length", points(constant, ks));
        komarov.figure("7", "2^26 values in all, row length varied, k neighbors against the k-th alone",
                       {only_kth.begin(), only_kth.end()}, "row length", points(constant, {16, 1024}));
        komarov.note(
            "The paper compares with radix and bucket select for one row at a time, of values without "
            "indices;");
        komarov.note("here all rows are selected from at once, and ties are in the order of indices.");
        komarov.figure("8", "queries varied, rows of 65,536, time of one query", {}, "queries",
                       points(few, ks), true);
        komarov.note(
            "The paper: the time of a query flattens out at 128 queries, when every block has work.");
        komarov.figure("pivots", "row length varied, 1,024 queries, sampled against random as in the paper",
                       {random_pivot}, "row length", points(by_row, ks));
    } else {
        run.leave_out("Figs. 4 to 8, pivots", "they compare selectors of a GPU");
    }
    komarov.figure("9", "row length varied, 128 queries, against nth_element on one CPU thread",
                   {"nth_element"}, "row length", points(serial, ks));
    komarov.note("The sizes of all figures are ours.");
}

}  // namespace knn
