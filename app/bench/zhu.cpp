// Seed 004: one thread per pair and k searches for the minimum, then its three tricks: tiles in shared
// memory, a third dimension of threads, and replacing the largest of k. The queries are the training points.
// The text does not state the sizes and dimension of its samples small, middle and large: the sizes here are
// ours.

#include "app/bench/figures.h"
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

/// Times of two parts of a search, for all points.
struct Sum {
    double ms = 0;
    bool partial = false;
};
Sum sum_of(const Measurement& a, const Measurement& b) {
    if (!a.good() || !b.good()) return {};
    return {a.ms_of_all() + b.ms_of_all(), a.partial() || b.partial()};
}
std::string cell(const Sum& sum) {
    return sum.ms > 0 ? short_number(sum.ms) + (sum.partial ? partial_mark : "") : "not run";
}

/// "3.52"; empty if one of the times is missing.
std::string ratio(double slow, double fast) {
    return slow > 0 && fast > 0 ? short_number(slow / fast) : "";
}

/// The measurements of one sample.
struct Times {
    BenchRun::Serial sequential;
    Measurement plain, tile16, layers, contest, k_pass, replace_max;
};

class Zhu {
  public:
    explicit Zhu(BenchRun& run) : run_(run) {
        const auto table = [&](const char* title, const char* step, const char* source,
                               const char* paper_before, const char* paper_after) {
            tables_.push_back({{}, source, paper_before, paper_after});
            tables_.back().table.title = title;
            tables_.back().table.columns = {"sample",      "points",      std::string("before, ms"),
                                            step,          "faster",      "paper before",
                                            "paper after", "paper faster"};
        };
        table("Table 1: distances, one CPU thread -> a GPU thread per pair", "a thread per pair, ms",
              "seed 004, Table 1", "sequential time", "parallel time");
        table("Table 2: selection, one CPU thread -> one GPU thread per point, both by k minima",
              "k_pass, ms", "seed 004, Table 2", "sequential time", "parallel time");
        table("Table 3: both passes, one CPU thread -> the GPU", "thread per pair + k_pass, ms",
              "seed 004, Table 3", "sequential time", "parallel time");
        table("Table 4, trick 1: distances by tiles of 16 x 16 in shared memory", "tiles, ms",
              "seed 004, Table 4", "original time", "optimised time");
        table("Table 6, trick 2: one grid layer per quarter of the matrix", "layers, ms", "seed 004, Table 6",
              "original time", "optimised time");
        table("Table 7, trick 3: replace the largest of k", "replace_max, ms", "seed 004, Table 7",
              "original time", "optimised time");
        table("Table 8: both passes, before and after the three tricks", "all tricks, ms",
              "seed 004, Table 8", "original time", "optimised time");
        table("Table 9: both passes, for any input and for one contest", "contest, ms", "seed 004, Table 9",
              "general program", "contest program");
        halves_.title = "one of each two equal distances, no point its own neighbor, ms";
        halves_.columns = {"sample", "points", "thread per pair", "half",        "faster",
                           "tiles",  "half",   "faster",          "replace_max", "paper"};
    }

    void sample(const Sample& sample) {
        Workload work(sample.n, sample.n, dim, k, 4);
        // As in the paper, the queries are the training points, so both use the same rows.
        const std::vector<std::uint8_t> labels(static_cast<std::size_t>(sample.n));
        Workload points(work.train, work.train, labels, k);
        run_.figure(sample.name);
        run_.prepare(points);
        const Times times = measure(points);
        row(0, sample, times.sequential.distance, times.plain);
        row(1, sample, times.sequential.select, times.k_pass);
        const Sum sequential = sum_of(times.sequential.distance, times.sequential.select),
                  before = sum_of(times.plain, times.k_pass), after = sum_of(times.layers, times.replace_max);
        row(2, sample, sequential, before);
        row(3, sample, times.plain, times.tile16);
        row(4, sample, times.tile16, times.layers);
        row(5, sample, times.k_pass, times.replace_max);
        row(6, sample, before, after);
        row(7, sample, after, sum_of(times.contest, times.replace_max));
        if (run_.has_gpu()) halves(sample, points, times);
        if (sample.name == std::string("large")) sides(points);
    }

    void finish() {
        for (Step& step : tables_) {
            note_marks(step.table);
            run_.report().tables.push_back(std::move(step.table));
            if (step.source == std::string_view("seed 004, Table 4") && !sides_.rows.empty()) {
                note_marks(sides_);
                run_.report().tables.push_back(std::move(sides_));
            }
        }
        if (!halves_.rows.empty()) {
            halves_.notes = {
                "The paper's times in the other tables are of such programs; it gives none of all pairs."};
            note_marks(halves_);
            run_.report().tables.push_back(std::move(halves_));
        }
        if (!panel_.bars.empty()) run_.report().panels.push_back(std::move(panel_));
        std::vector<std::string>& notes = run_.report().tables.back().notes;
        notes.insert(notes.end(), {"faster: before / after. The paper's own ratios are against one CPU "
                                   "thread and arrays in the JSON.",
                                   "The paper's samples have sizes of their own that its text does not "
                                   "state: its times and ours are of",
                                   "different work, only the ratios compare. It computes one of each two "
                                   "equal distances and leaves a",
                                   "point itself out; all pairs are computed where nothing else is said."});
    }

  private:
    struct Step {
        BenchTable table;
        const char *source, *before, *after;
    };

    Times measure(Workload& points) {
        Times times;
        times.sequential = run_.serial(points, "serial_k_pass", k, share);
        run_.upload(points);
        if (points.arrays == nullptr) return times;
        times.plain = run_.distance(points, "pair_plain", share);
        times.tile16 = run_.distance(points, "pair_tile16", share);
        times.layers = run_.distance(points, "pair_tile16_z", share);
        times.contest = run_.distance(points, "pair_contest", share);
        points.arrays->fill("pair_tile16");
        times.k_pass = run_.select(points, "k_pass", k, share);
        times.replace_max = run_.select(points, "replace_max", k, share);
        points.arrays.reset();
        return times;
    }

    /// Distances as the seed computes them: one of each two equal ones, and no point its own neighbor.
    void halves(const Sample& sample, const Workload& points, const Times& all) {
        Workload work(points.train, points.train, points.labels, k);
        work.leave_one_out = true;
        run_.figure(std::string("half ") + sample.name);
        run_.prepare(work);
        run_.upload(work);
        const Measurement plain = run_.distance(work, "half_plain", share);
        const Measurement tile16 = run_.distance(work, "half_tile16", share);
        work.arrays->fill("half_tile16");
        const Measurement select = run_.select(work, "replace_max", k, share);
        halves_.rows.push_back({sample.name, with_commas(sample.n), ms_cell(all.plain), ms_cell(plain),
                                ratio(all.plain.ms_of_all(), plain.ms_of_all()), ms_cell(all.tile16),
                                ms_cell(tile16), ratio(all.tile16.ms_of_all(), tile16.ms_of_all()),
                                ms_cell(select), "not stated"});
    }

    void row(std::size_t index, const Sample& sample, const Measurement& before, const Measurement& after) {
        row(index, sample, ms_cell(before), ms_cell(after), ratio(before.ms_of_all(), after.ms_of_all()));
    }
    void row(std::size_t index, const Sample& sample, const Sum& before, const Sum& after) {
        row(index, sample, cell(before), cell(after), ratio(before.ms, after.ms));
    }
    void row(std::size_t index, const Sample& sample, const std::string& before, const std::string& after,
             const std::string& faster) {
        Step& step = tables_[index];
        const Figure *a = find_figure(step.source, sample.name, step.before),
                     *b = find_figure(step.source, sample.name, step.after);
        step.table.rows.push_back({sample.name, with_commas(sample.n), before, after, faster, a->text,
                                   b->text, ratio(a->value(), b->value())});
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
        const Figure* paper16 =
            find_figure("seed 004, Table 5", "block size 16", "time of distances computing");
        std::vector<std::pair<int, Measurement>> measured;
        double at_16 = 0;
        for (const int side : {4, 8, 16, 32}) {
            Measurement one;
            if (points.arrays != nullptr)
                one = run_.distance(points, "pair_tile" + std::to_string(side), share);
            if (side == 16) at_16 = one.ms_of_all();
            measured.emplace_back(side, std::move(one));
        }
        for (const auto& [side, one] : measured) {
            const std::string name = std::to_string(side);
            const Figure* paper =
                find_figure("seed 004, Table 5", "block size " + name, "time of distances computing");
            const double fastest = one.of_all(one.summary().min), slowest = one.of_all(one.summary().max);
            sides_.rows.push_back(
                {name, ms_cell(one), one.good() ? short_number(fastest) + " to " + short_number(slowest) : "",
                 ratio(one.ms_of_all(), at_16), paper->text, ratio(paper->value(), paper16->value())});
            if (!one.good()) continue;
            panel_.bars.push_back({name + " x " + name + (one.partial() ? partial_mark : ""), one.ms_of_all(),
                                   fastest, slowest, short_number(one.ms_of_all()) + " ms"});
            if (one.partial()) panel_.notes = {multiplied_note};
        }
    }

    BenchRun& run_;
    std::vector<Step> tables_;
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
