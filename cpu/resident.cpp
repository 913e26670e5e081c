#include "cpu/resident.h"

#include <algorithm>
#include <utility>

#include "data/core/clock.h"
#include "data/core/round_up.h"

namespace knn::cpu {

void Resident::pack(Team& team, Timeline& timeline) {
    const std::lock_guard lock(packing);
    if (packed) return;
    const auto start = Clock::now();
    Packed made{Panels(kernel, train), make_scoring(measure, kernel, train, true)};
    team.run_pieces(made.panels.count(), 1, [&](int, std::int64_t first, std::int64_t) {
        made.panels.fill(first);
        made.scoring->fill(first);
    });
    packed.emplace(std::move(made));
    const double images = static_cast<double>(train.count) * static_cast<double>(train.dim);
    timeline.add(
        {.name = "pack", .launches = 1, .total_ms = ms_since(start), .bytes = 2 * images, .once = true});
}

std::int64_t Resident::bytes_to_pack() {
    const std::lock_guard lock(packing);
    if (packed) return 0;
    return Panels::bytes(kernel, train.count, train.dim) +
           scoring_bytes(measure, kernel, train.count, train.dim);
}

std::int64_t Resident::max_block() const {
    constexpr std::int64_t most = 1024, least = 96;
    const std::int64_t wanted =
        round_up(std::clamp(kernel.block_bytes / train.dim, least, most), kernel.queries);
    return plan.batch > 0 ? std::min(plan.batch, wanted) : wanted;
}

PanelScanner Resident::scanner(std::int64_t block) const {
    return PanelScanner(kernel, packed->panels, *packed->scoring, train, block);
}

void add_stages(std::span<const Tally> tallies, double pairs, std::int64_t dim, Timeline& timeline) {
    const auto threads = static_cast<double>(tallies.size());
    Stage distance{"distance"}, select{"select"};
    for (const Tally& tally : tallies) {
        distance.total_ms += tally.distance_ms / threads;
        select.total_ms += tally.select_ms / threads;
        distance.bytes += tally.bytes;
        distance.launches += tally.tasks;
    }
    select.launches = distance.launches;
    distance.operations = 2.0 * pairs * static_cast<double>(dim);
    timeline.add(distance);
    timeline.add(select);
}

}  // namespace knn::cpu
