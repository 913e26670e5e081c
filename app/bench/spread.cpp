#include "app/bench/spread.h"

#include "app/bench/section.h"

namespace knn {

namespace {

/// Among ranks the CPU is spread too. All ranks answer alike, whatever devices they have.
bool can_spread(const BenchRun& run, const SearchWay& way) {
    if (!run.wants_engine(way)) return false;
    if (run.ranks() == nullptr) return way.engine->on_gpu;
    return !way.engine->on_gpu || run.options().wish.device.kind != DeviceKind::cpu;
}

}  // namespace

void compare_spread(BenchRun& run, const Workload& work, const std::string& experiment, int k) {
    if (run.several().empty()) return;
    Section section(run, "engines on " + run.several() + ", k = " + std::to_string(k), "engine",
                    {open_heading, kernels_heading});
    for (SearchWay way : search_ways()) {
        if (!can_spread(run, way)) continue;
        const std::string engine = way.name;
        for (const SpreadBy spread : {SpreadBy::queries, SpreadBy::training}) {
            way.spread = spread;
            way.name = engine + " by " + name(spread);
            const Measurement one = run.search(work, experiment, way, k, run.trial());
            section.add(one, {open_cell(one), kernels_cell(one)});
        }
    }
    section.note("by queries: each has the training set and some queries; by training: the other way round.");
    section.note("kernels: each stage as it was where it took longest.");
    if (run.ranks() != nullptr)
        section.note("all other tables: rank 0 alone, with its share of this host's threads.");
    section.finish();
}

std::int64_t spread_rows(const BenchRun& run) {
    return run.several().empty() ? 0 : 2 * std::ssize(search_ways());
}

}  // namespace knn
