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

constexpr int k = 32;          // the largest of its test cases, §5.3
constexpr double share = 0.4;  // of the time of a row
constexpr std::int64_t dim = 128;

struct Sample {
    const char* name;
    std::int64_t n;
};
constexpr Sample samples[] = {{"small", 1024}, {"middle", 4096}, {"large", 16'384}};

/// A step of the paper and its table there.
struct Step {
    const char *title, *column, *source, *before, *after;
};
constexpr std::array steps = {
    Step{"Table 1: distances, one CPU thread -> a GPU thread per pair", "a thread per pair, ms",
         "seed 004, Table 1", "sequential time", "parallel time"},
    Step{"Table 2: selection, one CPU thread -> one GPU thread per point, both by k minima", "k_pass, ms",
         "seed 004, Table 2", "sequential time", "parallel time"},
    Step{"Table 3: both passes, one CPU thread -> the GPU", "thread per pair + k_pass, ms",
         "seed 004, Table 3", "sequential time", "parallel time"},
    Step{"Table 4, trick 1: distances by tiles of 16 x 16 in shared memory", "tiles, ms", "seed 004, Table 4",
         "original time", "optimised time"},
    Step{"Table 6, trick 2: one grid layer per quarter of the matrix", "layers, ms", "seed 004, Table 6",
         "original time", "optimised time"},
    Step{"Table 7, trick 3: replace the largest of k", "replace_max, ms", "seed 004, Table 7",
         "original time", "optimised time"},
    Step{"Table 8: both passes, before and after the three tricks", "all tricks, ms", "seed 004, Table 8",
         "original time", "optimised time"},
    Step{"Table 9: both passes, for any input and for one contest", "contest, ms", "seed 004, Table 9",
         "general program", "contest program"}};
constexpr std::size_t tiles_step = 3;  // behind whose table that of the tiles' sides stands

/// The time of a part of a search, or of two, for all points.
struct Part {
    double ms = 0;
    std::string cell;

    Part(const Measurement& one) : ms(one.ms_of_all()), cell(ms_cell(one)) {}
    Part(const Measurement& a, const Measurement& b) : cell("not run") {
        if (!a.good() || !b.good()) return;
        ms = a.ms_of_all() + b.ms_of_all();
        cell = short_number(ms) + (a.partial() || b.partial() ? partial_mark : "");
    }
};

/// "3.52"; empty if one of the times is missing.
std::string ratio(double slow, double fast) {
    return slow > 0 && fast > 0 ? short_number(slow / fast) : "";
}

class Zhu {
  public:
    explicit Zhu(BenchRun& run) : run_(run) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            tables_[i].title = steps[i].title;
            tables_[i].columns = {"sample", "points",       "before, ms",  steps[i].column,
                                  "faster", "paper before", "paper after", "paper faster"};
        }
        halves_.title = "one of each two equal distances, no point its own neighbor, ms";
        halves_.columns = {"sample", "points", "thread per pair", "half",        "faster",
                           "tiles",  "half",   "faster",          "replace_max", "paper"};
        halves_.notes = {
            "The paper's times in the other tables are of such programs; it gives none of all pairs."};
    }

    void sample(const Sample& sample) {
        Workload work(sample.n, sample.n, dim, k, 4);
        // As in the paper, the queries are the training points, so both use the same rows.
        const std::vector<std::uint8_t> labels(static_cast<std::size_t>(sample.n));
        Workload points(work.train, work.train, labels, k);
        run_.figure(sample.name);
        run_.prepare(points);
        const auto [distance, select] = run_.serial(points, "serial_k_pass", k, share);
        Measurement plain, tile16, layers, contest, k_pass, replace_max;
        run_.upload(points);
        if (points.arrays != nullptr) {
            plain = run_.distance(points, "pair_plain", share);
            tile16 = run_.distance(points, "pair_tile16", share);
            layers = run_.distance(points, "pair_tile16_z", share);
            contest = run_.distance(points, "pair_contest", share);
            points.arrays->fill("pair_tile16");
            k_pass = run_.select(points, "k_pass", k, share);
            replace_max = run_.select(points, "replace_max", k, share);
            points.arrays.reset();
        }
        const Part before(plain, k_pass), after(layers, replace_max);
        const std::pair<Part, Part> parts[] = {{distance, plain},
                                               {select, k_pass},
                                               {Part(distance, select), before},
                                               {plain, tile16},
                                               {tile16, layers},
                                               {k_pass, replace_max},
                                               {before, after},
                                               {after, Part(contest, replace_max)}};
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const auto& [slow, fast] = parts[i];
            const Figure *a = find_figure(steps[i].source, sample.name, steps[i].before),
                         *b = find_figure(steps[i].source, sample.name, steps[i].after);
            tables_[i].rows.push_back({sample.name, with_commas(sample.n), slow.cell, fast.cell,
                                       ratio(slow.ms, fast.ms), a->text, b->text,
                                       ratio(a->value(), b->value())});
        }
        if (run_.has_gpu()) halves(sample, points, plain, tile16);
        if (sample.name == std::string("large")) sides(points);
    }

    void finish() {
        BenchReport& report = run_.report();
        for (std::size_t i = 0; i < steps.size(); ++i) {
            add_marked(report, std::move(tables_[i]));
            if (i == tiles_step && !sides_.rows.empty()) add_marked(report, std::move(sides_));
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
    void halves(const Sample& sample, const Workload& points, const Part& all_plain, const Part& all_tiles) {
        Workload work(points.train, points.train, points.labels, k);
        work.leave_one_out = true;
        run_.figure(std::string("half ") + sample.name);
        run_.prepare(work);
        run_.upload(work);
        const Part plain = run_.distance(work, "half_plain", share);
        const Part tiles = run_.distance(work, "half_tile16", share);
        work.arrays->fill("half_tile16");
        const Part select = run_.select(work, "replace_max", k, share);
        halves_.rows.push_back({sample.name, with_commas(sample.n), all_plain.cell, plain.cell,
                                ratio(all_plain.ms, plain.ms), all_tiles.cell, tiles.cell,
                                ratio(all_tiles.ms, tiles.ms), select.cell, "not stated"});
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
        std::vector<std::pair<std::string, Measurement>> measured;
        double at_16 = 0;
        for (const char* side : {"4", "8", "16", "32"}) {
            Measurement one;
            if (points.arrays != nullptr) one = run_.distance(points, std::string("pair_tile") + side, share);
            if (side == std::string("16")) at_16 = one.ms_of_all();
            measured.emplace_back(side, std::move(one));
        }
        for (const auto& [side, one] : measured) {
            const double fastest = one.of_all(one.summary().min), slowest = one.of_all(one.summary().max);
            sides_.rows.push_back({side, ms_cell(one),
                                   one.good() ? short_number(fastest) + " to " + short_number(slowest) : "",
                                   ratio(one.ms_of_all(), at_16), paper(side)->text,
                                   ratio(paper(side)->value(), paper("16")->value())});
            if (!one.good()) continue;
            panel_.bars.push_back({side + " x " + side + (one.partial() ? partial_mark : ""), one.ms_of_all(),
                                   fastest, slowest, short_number(one.ms_of_all()) + " ms"});
            if (one.partial()) panel_.notes = {multiplied_note};
        }
    }

    BenchRun& run_;
    std::array<BenchTable, steps.size()> tables_;
    BenchTable sides_, halves_;
    Panel panel_;
};

}  // namespace

void run_zhu(BenchRun& run) {
    BenchReport& report = run.report();
    report.data = "random bytes, dim = 128, k = 32; every point is query and training point";
    report.quotes = quotes_of("seed 004");
    if (!run.has_gpu()) {
        const Problem problem{samples[2].n, samples[2].n, dim, k};
        run.need_gpu("distance",
                     {"pair_plain", "pair_tile4", "pair_tile8", "pair_tile16", "pair_tile32", "pair_tile16_z",
                      "pair_contest", "half_plain", "half_tile16"},
                     problem);
        run.need_gpu("select", {"k_pass", "replace_max"}, problem);
    }
    run.expect(run.has_gpu() ? 3 * (8 + 3) + 4 : 3 * 2);
    Zhu zhu(run);
    for (const Sample& sample : samples)
        zhu.sample(sample);
    zhu.finish();
}

}  // namespace knn
