// Seed 003, §2 to §4: the optimizations of a thread per training image, one after another; the versions before the last,
// without padding (§2) and before the improvements as a whole (§4.1); and the final table. As there, images are uploaded as
// floats, a launch handles one test image, and the sort is bitonic.

#include <algorithm>
#include <array>

#include "app/bench/run.h"
#include "app/report/text.h"
#include "classifier/vote.h"
#include "data/core/format.h"

namespace knn {

namespace {

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

/// All images to the device as floats.
Measurement upload(BenchRun& run, const Workload& work, bool pinned) {
    return run.keep("upload", pinned ? "pinned" : "pageable", run.report.gpu, work.problem(work.max_k),
                    work.arrays->time_upload(pinned, run.trial()));
}

void ladder(BenchRun& run, const Workload& work, Measurement& last) {
    const Measurement uploads[] = {upload(run, work, false), upload(run, work, true)};
    BenchTable table = {"the ladder: each row changes one thing of the row above",
                        {"change", "upload ms", "upload / above", "queries", "distance ms/image",
                         "min to max", "distance / above", "paper"}};
    Panel panel = {"the ladder: distance of one test image", "milliseconds per test image", "", false};
    double upload_above = 0, us_above = 0;
    for (const Rung& rung : rungs) {
        Measurement one = run.distance(work, rung.kernel, 1, rung.linear);
        const double upload_ms = uploads[rung.pinned ? 1 : 0].summary().median;
        const double n = std::max(1.0, static_cast<double>(one.n_query));
        const bool first = upload_above == 0;
        table.rows.push_back(
            {rung.change, short_number(upload_ms), first ? "" : percent(upload_ms / upload_above, 0),
             one.good() ? with_commas(one.n_query) + (one.partial() ? partial_mark : "") : "",
             one.good() ? short_number(one.summary().median / n) : ms_cell(one), range_cell(one, 1 / n),
             one.good() && us_above > 0 ? percent(one.us_per_query() / us_above, 0) : "",
             first ? "all: " + stated(previous, "whole", "execution time") + " s" : "not stated"});
        upload_above = upload_ms;
        us_above = one.good() ? one.us_per_query() : 0;
        if (!one.good()) continue;
        panel.bars.push_back(bar_of(one, rung.change, 1 / n, " ms"));
        if (one.partial()) panel.notes = {ladder_note};
        last = std::move(one);
    }
    table.notes = {
        "before: pageable host memory, scalar loads, linear rows, the test image in global memory, a loop.",
        "upload: all images as floats, in one copy. The paper gives no times of single steps, only the",
        "execution time of the whole program before the first."};
    table.notes.insert(table.notes.end(), panel.notes.begin(), panel.notes.end());
    run.report.tables.push_back(std::move(table));
    run.report.panels.push_back(std::move(panel));
}

/// How many test images of the data set, from the first on, these votes label right.
std::int64_t count_right(std::span<const Vote> votes, const Dataset& data) {
    std::int64_t right = 0;
    for (std::size_t i = 0; i < votes.size(); ++i)
        right += votes[i].label == data.test.labels.data()[i] ? 1 : 0;
    return right;
}

/// "9,665 of 10,000", by a vote of these neighbors; empty if there are none.
std::string right_cell(const Measurement& one, const Neighbors& found, const Dataset& data, int k) {
    if (!one.good()) return "";
    const auto labels = std::span(data.train.labels.data(), data.train.labels.size());
    return with_commas(count_right(votes(found, labels, {.k = k}, {}), data)) + " of " +
           with_commas(found.n_query);
}

/// The sort without padding, which is wrong: what it returns is compared with the same steps on the CPU, for a sample of
/// queries. `found` gets it.
Measurement unpadded_sort(BenchRun& run, const Workload& work, int k, Neighbors& found) {
    const auto check = [&](std::int64_t n) -> std::string {
        found = work.arrays->neighbors(n);
        std::vector<Neighbor> right(static_cast<std::size_t>(k));
        std::vector<std::uint64_t> scratch;
        for (const std::int64_t q : sample(n, sampled)) {
            cpu::unpadded_bitonic(work.arrays->matrix_row(q), right, scratch);
            if (!std::ranges::equal(right, found.row(q)))
                return "row " + std::to_string(q) + " is not what its steps give on the CPU";
        }
        return "";
    };
    return run.keep("select", "bitonic_unpadded", run.report.gpu, work.problem(k),
                    work.arrays->time_select("bitonic_unpadded", k, run.trial()), check);
}

void padding_table(BenchRun& run, const Workload& work, int k) {
    work.arrays->fill("ladder_scalar");
    Neighbors unpadded;
    const Measurement without = unpadded_sort(run, work, k, unpadded);
    const Measurement with = run.select(work, "bitonic", k);
    const Neighbors padded = with.good() ? work.arrays->neighbors(with.n_query) : Neighbors(0, k);
    const auto row = [&](const char* name, const Measurement& one, const Neighbors& found) {
        return std::vector<std::string>{name, ms_cell(one), right_cell(one, found, work.dataset, k),
                                        stated("seed 003, 2", name, "accuracy") + " %"};
    };
    add_marked(
        run.report,
        {"2: the bitonic sort without and with padding, k = " + std::to_string(k),
         {"rows", "sort ms", "right", "paper"},
         {row("without padding", without, unpadded), row("padded", with, padded)},
         {"without padding: the steps of the sort for the next power of two; keys without a partner stay.",
          "They run one launch each, as in the paper; the padded sort is that of the engine classic."}});
}

void before_table(BenchRun& run, const Workload& work, int k) {
    Neighbors found;
    const Trial timed =
        gpu_bench()->time_before(run.gpu(), work.train, work.query, k, run.trial(), run.token, found);
    const Measurement before = run.keep("search", "before", run.report.gpu, work.problem(k), timed,
                                        [&](std::int64_t) { return work.mismatch(found); });
    add_marked(
        run.report,
        {"4.1: the version before as a whole, k = " + std::to_string(k),
         {"", "here", "paper"},
         {{"ms", ms_cell(before), stated(previous, "whole", "execution time") + " s"},
          {"right", right_cell(before, found, work.dataset, k), stated(previous, "whole", "correct")}},
         {"From the upload of all images to the last answer, one test image after another; the paper's",
          "time is that of its program, with reading the files. It does not state its k."}});
}

std::string cell(double time) {
    return time > 0 ? short_number(time) : "not run";
}

/// The engine `classic`, or `cpu` where there is no GPU. `last`: of the last rung.
void final_table(BenchRun& run, const Workload& work, const Measurement& last, int k) {
    Measurement sort, transfer;
    if (work.arrays != nullptr) {
        work.arrays->fill("ladder_scalar");
        sort = run.select(work, "bitonic", k);
        transfer = upload(run, work, true);
    }
    const std::string engine = work.arrays != nullptr ? "classic" : "cpu";
    Results found;
    const Measurement whole = run.search(work, search_way(engine), k, 1, &found);
    BenchTable table;
    table.title = "the final table, k = " + std::to_string(k) + ": total ms of " +
                  counted(work.query.count, "test image");
    table.columns = {"stage",     "paper, total",     "paper, average",
                     "last rung", "engine " + engine, "paper / " + engine};
    const auto row = [&](const char* what, const char* name, const Measurement& rung,
                         const std::vector<std::string>& stages) {
        double ms = 0;
        for (const Stage& stage : found.timeline.stages())
            if (has(stages, stage.name)) ms += stage.total_ms;
        table.rows.push_back({what, stated(final_version, name, "total"),
                              stated(final_version, name, "average"), ms_cell(rung), cell(ms),
                              ratio_cell(find_figure(final_version, name, "total")->value(), ms, " x")});
    };
    row("data transfer", "data transfer", transfer, {"upload", "download"});
    row("distance", "distance calculation", last, {"distance"});
    row("sorting", "sorting", sort, {"sort", "select"});
    const Figure* time = find_figure(final_version, "whole", "execution time");
    const double whole_s = whole.good() ? (whole.open_ms + whole.summary().median) / 1e3 : 0;
    table.rows.push_back(
        {"execution, s", time->text, "", "", cell(whole_s), ratio_cell(time->value(), whole_s, " x")});
    table.rows.push_back({"correct", stated(final_version, "whole", "correct"), "", "",
                          whole.good() ? std::to_string(count_right(found.votes, work.dataset)) : "not run",
                          ""});
    table.notes = {
        "execution: the paper's is its whole program, ours opening the training set and the search.",
        "The paper's version before counted " + std::string(stated(previous, "whole", "correct")) +
            " right in " + stated(previous, "whole", "execution time") + " s."};
    add_marked(run.report, std::move(table));  // launches are equal, one per test image
}

}  // namespace

void run_garrett(BenchRun& run) {
    const int k = run.options.method.vote.k;
    Workload work = load_workload(run, k);
    BenchReport& report = run.report;
    report.data = work.text;
    report.title += ", k = " + std::to_string(k);
    report.quotes = quotes_of("seed 003");
    run.expect(2 + static_cast<std::int64_t>(rungs.size()) + 6);
    run.prepare(work);
    run.upload(work);
    Measurement last;
    if (work.arrays != nullptr) {
        ladder(run, work, last);
        padding_table(run, work, k);
        before_table(run, work, k);
    } else {
        const Problem problem = work.problem(k);
        run.not_run("upload", {"pageable", "pinned"}, problem);
        run.not_run("distance",
                    words_of("ladder_scalar ladder_float4 ladder_shared ladder_unroll4 ladder_unroll8 "
                             "ladder_unrolled"),
                    problem);
        run.not_run("select", {"bitonic", "bitonic_unpadded"}, problem);
        run.not_run("search", {"classic", "before"}, problem);
    }
    final_table(run, work, last, k);
}

}  // namespace knn
