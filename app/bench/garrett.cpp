// Seed 003, §3 and §4: the optimizations of a thread per training image, one after another, and the final
// table. As there, images are uploaded as floats, a launch handles one test image, and the sort is bitonic.

#include <algorithm>
#include <array>

#include "app/bench/cases.h"
#include "app/bench/data.h"
#include "app/bench/figures.h"
#include "app/bench/garrett_versions.h"
#include "app/bench/run.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

constexpr const char* experiment = "garrett";
constexpr std::string_view previous = "seed 003, 4.1, previous version",
                           final_version = "seed 003, 4.1, final version";

/// One rung: what it changes, and its full configuration.
struct Rung {
    const char* change;
    const char* kernel;
    bool pinned, linear;
};
constexpr std::array<Rung, 8> rungs = {{
    {"before", "ladder_scalar", false, true},
    {"3.1 pageable -> pinned", "ladder_scalar", true, true},
    {"3.2 scalar -> float4", "ladder_float4", true, true},
    {"3.3 linear -> pitched", "ladder_float4", true, false},
    {"3.4 global -> shared memory", "ladder_shared", true, false},
    {"3.5 rolled -> unrolled by 4", "ladder_unroll4", true, false},
    {"3.2 unrolled by 4 -> by 8", "ladder_unroll8", true, false},
    {"3.5 unrolled by 8 -> fully", "ladder_unrolled", true, false},
}};

constexpr const char* ladder_note = "*: fewer test images were timed; the launches are equal, one per image.";

std::string time_cell(const Measurement& one, double value) {
    return one.good() ? short_number(value) : !one.wrong.empty() ? "WRONG" : "not run";
}

void ladder(BenchRun& run, const Workload& work, BenchArrays& arrays, Measurement& last) {
    const Measurement uploads[] = {run.upload(work, arrays, experiment, false),
                                   run.upload(work, arrays, experiment, true)};
    BenchTable table;
    table.title = "the ladder: each row changes one thing of the row above";
    table.columns = {"change",     "upload ms",        "upload / above", "queries", "distance ms/image",
                     "min to max", "distance / above", "paper"};
    Panel panel;
    panel.title = "the ladder: distance of one test image";
    panel.x_label = "milliseconds per test image";
    panel.log_x = false;
    const Measurement* upload_above = nullptr;
    Measurement above;
    for (const Rung& rung : rungs) {
        TrialOptions options = run.trial();
        options.linear = rung.linear;
        Measurement one = run.distance(work, arrays, experiment, rung.kernel, options);
        const Measurement& upload = uploads[rung.pinned ? 1 : 0];
        const Spread spread = one.spread();
        const double n = std::max(1.0, static_cast<double>(one.n_query));
        const bool first = upload_above == nullptr;
        table.rows.push_back(
            {rung.change, short_number(upload.ms_median()),
             first ? "" : percent(upload.ms_median() / upload_above->ms_median(), 0),
             one.good() ? with_commas(one.n_query) + (one.partial() ? partial_mark : "") : "",
             time_cell(one, spread.median / n),
             one.good() ? short_number(spread.low / n) + " to " + short_number(spread.high / n) : "",
             first || !one.good() || !above.good() ? ""
                                                   : percent(one.us_per_query() / above.us_per_query(), 0),
             first ? "all: " + stated(previous, "whole", "execution time") + " s" : "not stated"});
        if (one.good())
            panel.bars.push_back({rung.change + std::string(one.partial() ? partial_mark : ""),
                                  spread.median / n, spread.low / n, spread.high / n,
                                  short_number(spread.median / n) + " ms"});
        upload_above = &upload;
        above = one;
        if (one.partial()) panel.notes = {ladder_note};
        if (one.good()) last = std::move(one);
    }
    table.notes = {
        "before: pageable host memory, scalar loads, linear rows, the test image in global memory, a loop.",
        "upload: all images as floats, in one copy. The paper gives no times of single steps, only the",
        "execution time of the whole program before the first."};
    table.notes.insert(table.notes.end(), panel.notes.begin(), panel.notes.end());
    run.report().tables.push_back(std::move(table));
    run.report().panels.push_back(std::move(panel));
}

struct FinalRow {
    const char* what;
    std::string_view row;
    const Measurement& last_rung;
    double classic_ms;
};

double stage_ms(const Classified& result, const char* name) {
    for (const Stage& stage : result.timeline.stages())
        if (stage.name == name) return stage.total_ms;
    return 0;
}

std::string cell(double ms) {
    return ms > 0 ? short_number(ms) : "not run";
}

void final_table(BenchRun& run, const BenchData& data, BenchArrays& arrays, const Measurement& last, int k) {
    const Workload& work = *data.work;
    arrays.fill("ladder_scalar");
    const Measurement sort = run.select(work, arrays, experiment, "bitonic", k, run.trial());
    const Measurement upload = run.upload(work, arrays, experiment, true);
    Classified classic;
    const Measurement whole =
        run.search(work, experiment, search_way("classic"), k, run.trial(), &classic, true);
    const FinalRow rows[] = {
        {"data transfer", "data transfer", upload,
         stage_ms(classic, "upload") + stage_ms(classic, "download")},
        {"distance", "distance calculation", last, stage_ms(classic, "distance")},
        {"sorting", "sorting", sort, stage_ms(classic, "sort")},
    };
    BenchTable table;
    table.title = "the final table, k = " + std::to_string(k) + ": total ms of " +
                  with_commas(work.query().count) + " test " + noun(work.query().count, "image");
    table.columns = {"stage",     "paper, total",   "paper, average",
                     "last rung", "engine classic", "paper / classic"};
    for (const FinalRow& row : rows) {
        const Figure* paper = find_figure(final_version, row.row, "total");
        table.rows.push_back(
            {row.what, stated(final_version, row.row, "total"), stated(final_version, row.row, "average"),
             ms_cell(row.last_rung), cell(row.classic_ms),
             paper != nullptr && row.classic_ms > 0 ? short_number(paper->value() / row.classic_ms) + " x"
                                                    : ""});
    }
    const Figure* time = find_figure(final_version, "whole", "execution time");
    table.rows.push_back(
        {"execution, s", time->text, "", "",
         whole.good() ? short_number((whole.open_ms + whole.ms_median()) / 1e3) : "not run",
         whole.good() ? short_number(time->value() * 1e3 / (whole.open_ms + whole.ms_median())) + " x" : ""});
    table.rows.push_back({"correct", stated(final_version, "whole", "correct"), "", "",
                          whole.good() ? std::to_string(count_right(classic.votes, data.dataset)) : "not run",
                          ""});
    table.notes = {
        "execution: the paper's is its whole program, ours opening the training set and the search.",
        "The paper's version before counted " + std::string(stated(previous, "whole", "correct")) +
            " right in " + stated(previous, "whole", "execution time") + " s."};
    note_marks(table);  // launches are equal, one per test image
    run.report().tables.push_back(std::move(table));
}

}  // namespace

void run_garrett(BenchRun& run) {
    const int k = run.options().method.vote.k;
    const BenchData data = bench_data(run, k);
    BenchReport& report = run.report();
    report.data = data.text;
    report.title += ", k = " + std::to_string(k);
    report.quotes = quotes_of("seed 003");
    run.expect(2 + static_cast<std::int64_t>(rungs.size()) + 6);
    run.prepare(*data.work);
    const std::unique_ptr<BenchArrays> arrays = run.arrays(*data.work);
    if (arrays == nullptr) {
        const Problem problem = data.work->problem(k);
        run.need_gpu(experiment, "upload", {"pageable", "pinned"}, problem);
        run.need_gpu(experiment, "distance",
                     {"ladder_scalar", "ladder_float4", "ladder_shared", "ladder_unroll4", "ladder_unroll8",
                      "ladder_unrolled"},
                     problem);
        run.need_gpu(experiment, "select", {"bitonic", "bitonic_unpadded"}, problem);
        run.need_gpu(experiment, "search", {"classic", "before"}, problem);
        BenchTable table;
        table.title = "the final table of the paper (10,000 test images), and the CPU engine (" +
                      with_commas(data.work->query().count) + ")";
        table.columns = {"stage", "paper, total ms", "engine cpu, ms"};
        Classified found;
        const Measurement whole =
            run.search(*data.work, experiment, search_way("cpu"), k, run.trial(), &found, true);
        table.rows = {{"data transfer", stated(final_version, "data transfer", "total"), "none"},
                      {"distance", stated(final_version, "distance calculation", "total"),
                       cell(stage_ms(found, "distance"))},
                      {"sorting", stated(final_version, "sorting", "total"), cell(stage_ms(found, "select"))},
                      {"execution, s", stated(final_version, "whole", "execution time"),
                       short_number((whole.open_ms + whole.ms_median()) / 1e3)}};
        report.tables.push_back(std::move(table));
        return;
    }
    Measurement last;
    ladder(run, *data.work, *arrays, last);
    previous_versions(run, data, *arrays, k);
    final_table(run, data, *arrays, last, k);
}

}  // namespace knn
