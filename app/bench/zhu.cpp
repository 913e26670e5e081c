// Seed 004: one thread per pair and k searches for the minimum, then its three tricks: tiles in shared
// memory, a third dimension of threads, and replacing the largest of k. The queries are the training points.
// The text does not state the sizes and dimension of its samples small, middle and large: the sizes here are
// ours.

#include <array>

#include "app/bench/run.h"
#include "app/bench/table.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr int sample_k = 32;          // the largest of its test cases, §5.3
constexpr double sample_share = 0.4;  // of the time of a row
constexpr std::int64_t sample_dim = 128;

struct Sample {
    const char* name;
    std::int64_t n;
};
constexpr Sample samples[] = {{"small", 1024}, {"middle", 4096}, {"large", 16'384}};

/// A step of the paper: its table there, and what is measured before and after it: a part of a search, or two that are
/// added up, separated by a blank.
struct Step {
    const char *title, *column, *source, *paper_before, *paper_after, *before, *after;
};
constexpr std::array steps = {
    Step{"Table 1: distances, one CPU thread -> a GPU thread per pair", "a thread per pair, ms",
         "seed 004, Table 1", "sequential time", "parallel time", "serial", "pair_plain"},
    Step{"Table 2: selection, one CPU thread -> one GPU thread per point, both by k minima", "k_pass, ms",
         "seed 004, Table 2", "sequential time", "parallel time", "serial_k_pass", "k_pass"},
    Step{"Table 3: both passes, one CPU thread -> the GPU", "thread per pair + k_pass, ms",
         "seed 004, Table 3", "sequential time", "parallel time", "serial serial_k_pass",
         "pair_plain k_pass"},
    Step{"Table 4, trick 1: distances by tiles of 16 x 16 in shared memory", "tiles, ms", "seed 004, Table 4",
         "original time", "optimised time", "pair_plain", "pair_tile16"},
    Step{"Table 6, trick 2: one grid layer per quarter of the matrix", "layers, ms", "seed 004, Table 6",
         "original time", "optimised time", "pair_tile16", "pair_tile16_z"},
    Step{"Table 7, trick 3: replace the largest of k", "replace_max, ms", "seed 004, Table 7",
         "original time", "optimised time", "k_pass", "replace_max"},
    Step{"Table 8: both passes, before and after the three tricks", "all tricks, ms", "seed 004, Table 8",
         "original time", "optimised time", "pair_plain k_pass", "pair_tile16_z replace_max"},
    Step{"Table 9: both passes, for any input and for one contest", "contest, ms", "seed 004, Table 9",
         "general program", "contest program", "pair_tile16_z replace_max", "pair_contest replace_max"}};
constexpr std::size_t tiles_step = 3;  // behind whose table that of the tiles' sides stands

/// The time for all points.
struct Time {
    double ms = 0;
    std::string cell;
};
Time time_of(Measurements& measured, const char* parts) {
    Time time;
    bool partial = false;
    for (const std::string& part : words_of(parts)) {
        const Measurement& one = measured[part];
        if (!one.good()) return {0, ms_cell(one)};
        time.ms += one.ms_of_all();
        partial = partial || one.partial();
    }
    time.cell = short_number(time.ms) + (partial ? partial_mark : "");
    return time;
}

class Zhu {
  public:
    explicit Zhu(BenchRun& run) : run_(run) {
        for (const Step& step : steps)
            tables_.push_back({step.title,
                               {"sample", "points", "before, ms", step.column, "faster", "paper before",
                                "paper after", "paper faster"},
                               {},
                               {}});
    }

    void sample(const Sample& sample) {
        Workload work(sample.n, sample.n, sample_dim, sample_k, 4);
        // As in the paper, the queries are the training points, so both use the same rows.
        Workload points(work.train, work.train, work.labels, sample_k);
        run_.figure(sample.name);
        Measurements all = run_.parts(points,
                                      {"serial_k_pass", "pair_plain pair_tile16 pair_tile16_z pair_contest",
                                       "pair_tile16", "k_pass replace_max"},
                                      sample_k, sample_share);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const Step& step = steps[i];
            const Time slow = time_of(all, step.before), fast = time_of(all, step.after);
            const Figure *a = find_figure(step.source, sample.name, step.paper_before),
                         *b = find_figure(step.source, sample.name, step.paper_after);
            tables_[i].rows.push_back({sample.name, with_commas(sample.n), slow.cell, fast.cell,
                                       ratio_cell(slow.ms, fast.ms), a->text, b->text,
                                       ratio_cell(a->value(), b->value())});
        }
        if (run_.has_gpu()) halves(sample, points, all);
        if (sample.name == std::string("large")) sides(points);
    }

    void finish() {
        BenchReport& report = run_.report();
        for (std::size_t i = 0; i < steps.size(); ++i) {
            add_marked(report, std::move(tables_[i]));
            if (i == tiles_step) add_marked(report, std::move(sides_));
        }
        if (!halves_.rows.empty()) add_marked(report, std::move(halves_));
        if (!panel_.bars.empty()) report.panels.push_back(std::move(panel_));
        std::vector<std::string>& notes = report.tables.back().notes;
        notes.insert(notes.end(), {"faster: before / after. The paper's own ratios are against one CPU "
                                   "thread and arrays in the JSON.",
                                   "The paper's samples have sizes of their own that its text does not "
                                   "state: its times and ours are of",
                                   "different work, only the ratios compare. It computes one of each two "
                                   "equal distances and leaves a",
                                   "point itself out; all pairs are computed where nothing else is said."});
    }

  private:
    /// Distances as the seed computes them: one of each two equal ones, and no point its own neighbor.
    void halves(const Sample& sample, const Workload& points, Measurements& all) {
        Workload work(points.train, points.train, points.labels, sample_k);
        work.leave_one_out = true;
        run_.figure(std::string("half ") + sample.name);
        Measurements half = run_.parts(work, {"", "half_plain half_tile16", "half_tile16", "replace_max"},
                                       sample_k, sample_share);
        const auto cells = [&](const char* whole, const char* part) {
            const Time slow = time_of(all, whole), fast = time_of(half, part);
            return std::array{slow.cell, fast.cell, ratio_cell(slow.ms, fast.ms)};
        };
        const auto plain = cells("pair_plain", "half_plain"), tiles = cells("pair_tile16", "half_tile16");
        halves_.rows.push_back({sample.name, with_commas(sample.n), plain[0], plain[1], plain[2], tiles[0],
                                tiles[1], tiles[2], ms_cell(half["replace_max"]), "not stated"});
    }

    /// Table 5.
    void sides(Workload& points) {
        run_.figure("sides");
        run_.upload(points);
        sides_.title = "Table 5: the side of the tiles, " + with_commas(points.query.count) + " points";
        sides_.columns = {"side", "ms", "min to max", "of side 16", "paper, ms", "paper, of side 16"};
        panel_.title = sides_.title;
        panel_.x_label = "milliseconds";
        panel_.log_x = false;
        const auto paper = [](const std::string& side) {
            return find_figure("seed 004, Table 5", "block size " + side, "time of distances computing");
        };
        const std::vector<std::string> all = {"4", "8", "16", "32"};
        Measurements measured;
        for (const std::string& side : all)
            if (points.arrays != nullptr)
                measured[side] = run_.distance(points, "pair_tile" + side, sample_share);
        for (const std::string& side : all) {
            const Measurement& one = measured[side];
            sides_.rows.push_back({side, ms_cell(one), range_cell(one, one.of_all(1)),
                                   ratio_cell(one.ms_of_all(), measured["16"].ms_of_all()), paper(side)->text,
                                   ratio_cell(paper(side)->value(), paper("16")->value())});
            if (one.good()) panel_.bars.push_back(bar_of(one, side + " x " + side, one.of_all(1), " ms"));
            if (one.partial()) panel_.notes = {multiplied_note};
        }
    }

    BenchRun& run_;
    std::vector<BenchTable> tables_;  ///< one for each step
    BenchTable sides_;
    BenchTable halves_ = {
        "one of each two equal distances, no point its own neighbor, ms",
        {"sample", "points", "thread per pair", "half", "faster", "tiles", "half", "faster", "replace_max",
         "paper"},
        {},
        {"The paper's times in the other tables are of such programs; it gives none of all pairs."}};
    Panel panel_;
};

}  // namespace

void run_zhu(BenchRun& run) {
    BenchReport& report = run.report();
    report.data = "random bytes, dim = 128, k = 32; every point is query and training point";
    report.quotes = quotes_of("seed 004");
    if (!run.has_gpu()) {
        const Problem problem{samples[2].n, samples[2].n, sample_dim, sample_k};
        run.not_run("distance",
                    words_of("pair_plain pair_tile4 pair_tile8 pair_tile16 pair_tile32 pair_tile16_z "
                             "pair_contest half_plain half_tile16"),
                    problem);
        run.not_run("select", {"k_pass", "replace_max"}, problem);
    }
    run.expect(run.has_gpu() ? 3 * (8 + 3) + 4 : 3 * 2);
    Zhu zhu(run);
    for (const Sample& sample : samples)
        zhu.sample(sample);
    zhu.finish();
}

}  // namespace knn
