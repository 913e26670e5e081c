#include "app/bench/zhu_halves.h"

#include "data/core/format.h"

namespace knn {

std::string ratio(double slow, double fast) {
    return slow > 0 && fast > 0 ? short_number(slow / fast) : "";
}

ZhuHalves::ZhuHalves() {
    table_.title = "one of each two equal distances, no point its own neighbor, ms";
    table_.columns = {"sample", "points", "thread per pair", "half",        "faster",
                      "tiles",  "half",   "faster",          "replace_max", "paper"};
}

void ZhuHalves::add(BenchRun& run, const std::string& sample, const Rows& points, const Measurement& plain,
                    const Measurement& tile16, const TrialOptions& options) {
    const std::vector<std::uint8_t> labels(static_cast<std::size_t>(points.count));
    Workload work(points, points, labels, zhu_k);
    work.exclude = {.first = 0};
    run.prepare(work);
    const std::string experiment = "zhu half " + sample;
    const std::unique_ptr<BenchArrays> arrays = run.arrays(work);
    const Measurement half_plain = run.distance(work, *arrays, experiment, "half_plain", options);
    const Measurement half_tile16 = run.distance(work, *arrays, experiment, "half_tile16", options);
    arrays->fill("half_tile16");
    const Measurement select = run.select(work, *arrays, experiment, "replace_max", zhu_k, options);
    table_.rows.push_back({sample, with_commas(points.count), ms_cell(plain), ms_cell(half_plain),
                           ratio(plain.ms_of_all(), half_plain.ms_of_all()), ms_cell(tile16),
                           ms_cell(half_tile16), ratio(tile16.ms_of_all(), half_tile16.ms_of_all()),
                           ms_cell(select), "not stated"});
}

void ZhuHalves::finish(BenchReport& report) {
    if (table_.rows.empty()) return;
    table_.notes = {
        "The paper's times in the other tables are of such programs; it gives none of all pairs."};
    note_marks(table_);
    report.tables.push_back(std::move(table_));
}

}  // namespace knn
