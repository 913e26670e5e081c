// Seed 004: one thread per pair and k searches for the minimum, then its three tricks: tiles in shared
// memory, a third dimension of threads, and replacing the largest of k. The queries are the training points.
// The text does not state the sizes and dimension of its samples small, middle and large: the sizes here are
// ours.

#include "app/bench/run.h"
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

/// A step of the paper: the title of its table, and what is measured before and after it: a part of a search, or two that
/// are added up, separated by a blank. The table there has the times before and after the step first.
struct PaperStep {
    const char *title, *column, *before, *after;
};
constexpr PaperStep steps[] = {
    {"Table 1: distances, one CPU thread -> a GPU thread per pair", "a thread per pair, ms", "serial",
     "pair_plain"},
    {"Table 2: selection, one CPU thread -> one GPU thread per point, both by k minima", "k_pass, ms",
     "serial_k_pass", "k_pass"},
    {"Table 3: both passes, one CPU thread -> the GPU", "thread per pair + k_pass, ms",
     "serial serial_k_pass", "pair_plain k_pass"},
    {"Table 4, trick 1: distances by tiles of 16 x 16 in shared memory", "tiles, ms", "pair_plain",
     "pair_tile16"},
    {"Table 6, trick 2: one grid layer per quarter of the matrix", "layers, ms", "pair_tile16",
     "pair_tile16_z"},
    {"Table 7, trick 3: replace the largest of k", "replace_max, ms", "k_pass", "replace_max"},
    {"Table 8: both passes, before and after the three tricks", "all tricks, ms", "pair_plain k_pass",
     "pair_tile16_z replace_max"},
    {"Table 9: both passes, for any input and for one contest", "contest, ms", "pair_tile16_z replace_max",
     "pair_contest replace_max"}};
constexpr std::size_t tiles_step = 3;  // behind whose table that of the tiles' sides stands
const std::string sides[] = {"4", "8", "16", "32"};

/// "half": as the seed computes distances: one of each two equal ones, and no point is its own neighbor.
std::string half_figure(const Sample& sample) {
    return std::string("half ") + sample.name;
}

void measure(BenchRun& run, const Sample& sample) {
    Workload work(sample.n, sample.n, sample_dim, sample_k, 4);
    // As in the paper, the queries are the training points, so both use the same rows.
    Workload points(work.train, work.train, work.labels, sample_k),
        others(work.train, work.train, work.labels, sample_k);
    others.leave_one_out = true;
    run.figure(sample.name);
    run.parts(points,
              {"serial_k_pass", "pair_plain pair_tile16 pair_tile16_z pair_contest", "pair_tile16",
               "k_pass replace_max"},
              sample_k, sample_share);
    if (!run.has_gpu()) return;
    run.figure(half_figure(sample));
    run.parts(others, {"", "half_plain half_tile16", "half_tile16", "replace_max"}, sample_k, sample_share);
    if (sample.n < samples[2].n) return;
    run.figure("sides");
    run.upload(points);
    for (const std::string& side : sides)
        run.distance(points, "pair_tile" + side, sample_share);
}

void add_step(BenchReport& report, const PaperStep& step) {
    const std::string number = std::string(step.title).substr(0, std::string("Table 1").size());
    BenchTable table = {step.title,
                        {"sample", "points", "before, ms", step.column, "faster", "paper before",
                         "paper after", "paper faster"}};
    for (const auto& [name, n] : samples) {
        const TotalTime slow = time_of(report, name, step.before), fast = time_of(report, name, step.after);
        std::vector<Figure> paper = quotes_of("seed 004, " + number);
        const std::string row = name;
        std::erase_if(paper, [&](const Figure& one) { return one.row != row; });
        table.rows.push_back({row, with_commas(n), slow.cell, fast.cell, ratio_cell(slow.ms, fast.ms),
                              paper[0].text, paper[1].text, ratio_cell(paper[0].value(), paper[1].value())});
    }
    add_marked(report, std::move(table));
}

/// Table 5.
void add_sides(BenchReport& report) {
    BenchTable table = {"Table 5: the side of the tiles, " + with_commas(samples[2].n) + " points",
                        {"side", "ms", "min to max", "of side 16", "paper, ms", "paper, of side 16"}};
    Panel panel = {table.title, "milliseconds", "", false};
    const auto paper = [](const std::string& side) {
        return find_figure("seed 004, Table 5", "block size " + side, "time of distances computing");
    };
    const auto measured = [&](const std::string& side) {
        return report.measured("sides", "pair_tile" + side);
    };
    for (const std::string& side : sides) {
        const Measurement one = measured(side);
        table.rows.push_back({side, ms_cell(one), range_cell(one, one.of_all(1)),
                              ratio_cell(one.ms_of_all(), measured("16").ms_of_all()), paper(side)->text,
                              ratio_cell(paper(side)->value(), paper("16")->value())});
        if (one.good()) panel.bars.push_back(bar_of(one, side + " x " + side, one.of_all(1), " ms"));
        if (one.partial()) panel.notes = {multiplied_note};
    }
    add_marked(report, std::move(table));
    if (!panel.bars.empty()) report.panels.push_back(std::move(panel));
}

void add_halves(BenchReport& report) {
    BenchTable table = {"one of each two equal distances, no point its own neighbor, ms",
                        {"sample", "points", "thread per pair", "half", "faster", "tiles", "half", "faster",
                         "replace_max", "paper"}};
    table.notes = {"The paper's times in the other tables are of such programs; it gives none of all pairs."};
    for (const Sample& sample : samples) {
        std::vector<std::string>& row = table.rows.emplace_back();
        row = {sample.name, with_commas(sample.n)};
        for (const auto& [whole, part] :
             {std::pair("pair_plain", "half_plain"), std::pair("pair_tile16", "half_tile16")}) {
            const TotalTime slow = time_of(report, sample.name, whole),
                            fast = time_of(report, half_figure(sample), part);
            row.insert(row.end(), {slow.cell, fast.cell, ratio_cell(slow.ms, fast.ms)});
        }
        row.insert(row.end(), {time_of(report, half_figure(sample), "replace_max").cell, "not stated"});
    }
    add_marked(report, std::move(table));
}

}  // namespace

void run_zhu(BenchRun& run) {
    BenchReport& report = run.report;
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
    for (const Sample& sample : samples)
        measure(run, sample);
    for (const PaperStep& step : steps) {
        add_step(report, step);
        if (&step == &steps[tiles_step]) add_sides(report);
    }
    if (run.has_gpu()) add_halves(report);
    std::vector<std::string>& notes = report.tables.back().notes;
    notes.insert(notes.end(), {"faster: before / after. The paper's own ratios are against one CPU "
                               "thread and arrays in the JSON.",
                               "The paper's samples have sizes of their own that its text does not "
                               "state: its times and ours are of",
                               "different work, only the ratios compare. It computes one of each two "
                               "equal distances and leaves a",
                               "point itself out; all pairs are computed where nothing else is said."});
}

}  // namespace knn
