#include <algorithm>

#include "app/report/text.h"
#include "data/core/format.h"

namespace knn {

namespace {

/// The share of the limit that the stage is closest to: "85 % of arithmetic". Empty if no limit is known, or
/// if the stage is faster than it (tensor cores than float32 arithmetic, a cache than memory).
std::string share_of_peak(const Stage& stage, const Device& device) {
    const auto share = [](double rate, double peak) { return peak > 0 && rate <= peak ? rate / peak : 0; };
    const double memory = share(
        stage.gb_per_s(), stage.kind == StageKind::copy ? device.peak_link_gb_per_s : device.peak_gb_per_s);
    const double arithmetic = share(stage.gflop_per_s(), device.peak_gflop_per_s);
    if (memory <= 0 && arithmetic <= 0) return "";
    const char* limit = arithmetic > memory             ? " of arithmetic"
                        : stage.kind == StageKind::copy ? " of link"
                                                        : " of memory";
    return percent(std::max(memory, arithmetic), 0) + limit;
}

std::string rate(double value) {
    return value > 0 ? short_number(value) : "";
}

}  // namespace

std::string timing_text(const Evaluation& evaluation) {
    const Classified& found = evaluation.found;
    const auto images = static_cast<double>(std::max<std::int64_t>(evaluation.n_test, 1));
    const auto line = [&](const std::string& name, const std::string& launches, double ms) {
        return std::vector<std::string>{name, launches, fixed(ms, 2), fixed(ms / images, 5)};
    };
    const bool peaks = found.plan.device.peak_gb_per_s > 0 || found.plan.device.peak_gflop_per_s > 0;
    Table table(
        {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right, Align::right});
    table.add({"stage", "launches", "total ms", "ms/image", "GB/s", "GFLOP/s", peaks ? "of the peak" : ""});
    for (const Stage& stage : found.timeline.stages()) {
        std::vector<std::string> cells = line(stage.name, std::to_string(stage.launches), stage.total_ms);
        cells.insert(cells.end(), {rate(stage.gb_per_s()), rate(stage.gflop_per_s()),
                                   share_of_peak(stage, found.plan.device)});
        table.add(std::move(cells));
    }
    table.add({});
    table.add(line("kernels", "", found.timeline.kernels_ms()));
    table.add(line("search", "", found.search_ms));
    table.add(line("load", "", evaluation.load_ms));
    table.add(line("whole run", "", evaluation.wall_ms));
    const std::string imbalance = imbalance_text(found.timeline);
    return table.text() + (imbalance.empty() ? "" : "\n  imbalance: " + imbalance + '\n');
}

}  // namespace knn
