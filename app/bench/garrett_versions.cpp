#include "app/bench/garrett_versions.h"

#include "app/bench/figures.h"
#include "classifier/vote.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr const char* experiment = "garrett";

/// "9,665 of 10,000", by a vote of these neighbors; empty if there are none.
std::string right_cell(const Measurement& one, const Neighbors& found, const Dataset& data, int k) {
    if (!one.good()) return "";
    const auto labels = std::span(data.train.labels.data(), data.train.labels.size());
    return with_commas(count_right(votes(found, labels, {.k = k}, {}), data)) + " of " +
           with_commas(found.n_query);
}

void padding_table(BenchRun& run, const BenchData& data, BenchArrays& arrays, int k) {
    const Workload& work = *data.work;
    arrays.fill("ladder_scalar");
    Neighbors unpadded;
    const Measurement without = run.unpadded(work, arrays, experiment, k, run.trial(), unpadded);
    const Measurement with = run.select(work, arrays, experiment, "bitonic", k, run.trial());
    Neighbors padded = with.good() ? arrays.neighbors(with.n_query) : Neighbors(0, k);
    BenchTable table;
    table.title = "2: the bitonic sort without and with padding, k = " + std::to_string(k);
    table.columns = {"rows", "sort ms", "right", "paper"};
    const auto row = [&](const char* name, const Measurement& one, const Neighbors& found) {
        table.rows.push_back({name, ms_cell(one), right_cell(one, found, data.dataset, k),
                              stated("seed 003, 2", name, "accuracy") + " %"});
    };
    row("without padding", without, unpadded);
    row("padded", with, padded);
    table.notes = {
        "without padding: the steps of the sort for the next power of two; keys without a partner stay.",
        "They run one launch each, as in the paper; the padded sort is that of the engine classic."};
    note_marks(table);
    run.report().tables.push_back(std::move(table));
}

void before_table(BenchRun& run, const BenchData& data, int k) {
    Neighbors found;
    const Measurement before = run.before(*data.work, experiment, k, run.trial(), found);
    constexpr std::string_view source = "seed 003, 4.1, previous version";
    BenchTable table;
    table.title = "4.1: the version before as a whole, k = " + std::to_string(k);
    table.columns = {"", "here", "paper"};
    table.rows = {{"ms", ms_cell(before), stated(source, "whole", "execution time") + " s"},
                  {"right", right_cell(before, found, data.dataset, k), stated(source, "whole", "correct")}};
    table.notes = {
        "From the upload of all images to the last answer, one test image after another; the paper's",
        "time is that of its program, with reading the files. It does not state its k."};
    note_marks(table);
    run.report().tables.push_back(std::move(table));
}

}  // namespace

std::int64_t count_right(std::span<const Vote> votes, const Dataset& data) {
    std::int64_t right = 0;
    for (std::size_t i = 0; i < votes.size(); ++i)
        right += votes[i].label == data.test.labels.data()[i] ? 1 : 0;
    return right;
}

void previous_versions(BenchRun& run, const BenchData& data, BenchArrays& arrays, int k) {
    padding_table(run, data, arrays, k);
    before_table(run, data, k);
}

}  // namespace knn
