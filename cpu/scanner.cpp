#include "cpu/scanner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "data/core/round_up.h"

namespace knn::cpu {

namespace {

constexpr std::int64_t first_strips = 2;

/// For a block of queries: one sum, or at most one hit, for each pair with an image of the panel.
std::size_t pairs_of(const Kernel& kernel, std::int64_t max_block) {
    return static_cast<std::size_t>(round_up(max_block, kernel.queries) * kernel.images);
}
std::size_t hits_of(const Kernel& kernel, std::int64_t max_block) {
    return pairs_of(kernel, max_block) / static_cast<std::size_t>(kernel.lanes);
}

}  // namespace

PanelScanner::PanelScanner(const Kernel& kernel, const Panels& panels, const Scoring& scoring, Rows train,
                           std::int64_t max_block)
    : kernel_(kernel),
      panels_(panels),
      n_train_(train.count),
      scorer_(scoring.scorer(round_up(max_block, kernel.queries))),
      max_block_(max_block),
      partial_(pairs_of(kernel, max_block)),
      hits_(hits_of(kernel, max_block)) {}

std::int64_t PanelScanner::bytes(const Kernel& kernel, std::int64_t dim, std::int64_t max_block) {
    return QueryBlock::bytes(kernel, dim, max_block) +
           static_cast<std::int64_t>(pairs_of(kernel, max_block) * sizeof(std::uint32_t) +
                                     hits_of(kernel, max_block) * sizeof(Hit));
}

void PanelScanner::begin(Rows queries, Tally& tally) {
    const auto start = Clock::now();
    if (!own_) own_.emplace(kernel_, queries.dim, max_block_);
    own_->fill(queries);
    begin(queries, *own_);
    tally.distance_ms += ms_between(start, Clock::now());
    tally.bytes += static_cast<double>(queries.count) * static_cast<double>(queries.dim);
}

void PanelScanner::begin(Rows queries, const QueryBlock& packed) {
    block_ = &packed;
    scorer_->begin(queries);
}

std::span<Hit> PanelScanner::find_hits(std::int64_t unit, std::int64_t first_strip, std::int64_t end_strip,
                                       const std::uint32_t* limits, const std::uint32_t* image_limits) {
    Pass pass{panels_.pixels(unit), panels_.terms(unit), block_->pixels(), block_->terms(), limits,
              panels_.groups(),     end_strip,           first_strip,      partial_.data(), hits_.data()};
    pass.image_limits = image_limits;
    scorer_->set_thresholds(pass, unit);
    const std::span<Hit> hits(hits_.data(),
                              image_limits != nullptr ? kernel_.scan_both(pass) : kernel_.scan(pass));
    scorer_->score(hits, unit);
    return hits;
}

void PanelScanner::scan(std::int64_t unit, BestLists& best, Tally& tally) {
    const auto start = Clock::now();
    const std::span<Hit> hits = find_hits(unit, 0, block_->strips(), best.limits(), nullptr);
    const auto middle = Clock::now();
    best.take(hits, unit * kernel_.images, n_train_);
    tally.add(start, middle, panels_.panel_bytes());
}

void PanelScanner::scan_both(std::int64_t unit, BestLists& best, std::int64_t first_query, BestLists& all,
                             Tally& tally) {
    const std::int64_t first = unit * kernel_.images, strips = block_->strips();
    // The first images that a list meets are all hits, until it has a limit: some strips, as many again, and so on.
    for (std::int64_t strip = 0, end = 0; strip < strips; strip = end) {
        end = first_query > 0 ? strips : std::min(strips, 2 * strip + first_strips);
        const auto start = Clock::now();
        const std::span<Hit> hits = find_hits(unit, strip, end, best.limits(), all.limits() + first);
        const auto middle = Clock::now();
        best.take(hits, first, n_train_);
        all.add_reverse(hits, first, n_train_, first_query);
        tally.add(start, middle, panels_.panel_bytes());
    }
}

RowScanner::RowScanner(const Scoring& scoring, Rows train, std::int64_t max_block)
    : train_(train), scorer_(scoring.scorer(max_block)), distances_(unit_rows) {}

void RowScanner::begin(Rows queries, Tally& tally) {
    queries_ = queries;
    scorer_->begin(queries);
    tally.bytes += static_cast<double>(queries.count) * static_cast<double>(queries.dim);
}

void RowScanner::scan(std::int64_t unit, BestLists& best, Tally& tally) {
    const std::int64_t first = unit * unit_rows, rows = std::min(unit_rows, train_.count - first);
    const std::span<std::uint32_t> scores(distances_.data(), static_cast<std::size_t>(rows));
    const auto begin = Clock::now();
    scorer_->begin_rows(first, rows);
    tally.distance_ms += ms_between(begin, Clock::now());
    for (std::int64_t q = 0; q < queries_.count; ++q) {
        const auto start = Clock::now();
        scorer_->score_rows(q, first, scores);
        const auto middle = Clock::now();
        best.take(q, scores, first);
        tally.distance_ms += ms_between(start, middle);
        tally.select_ms += ms_between(middle, Clock::now());
    }
    tally.bytes += static_cast<double>(rows) * static_cast<double>(train_.dim);
}

void Resident::pack(Team& team, Timeline& timeline) {
    const std::lock_guard lock(packing);
    if (packed) return;
    const auto start = Clock::now();
    Packed made{Panels(kernel, train), make_scoring(measure, kernel, train, true)};
    team.run_pieces(made.panels.count(), 1, [&](int, std::int64_t first, std::int64_t) {
        made.panels.fill(first);
        made.scoring.fill(first);
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
    return PanelScanner(kernel, packed->panels, packed->scoring, train, block);
}

void run_tallied(Team& team, double pairs, std::int64_t dim, Timeline& timeline,
                 const std::function<void(int, Tally&)>& work) {
    std::vector<Tally> tallies(static_cast<std::size_t>(team.threads()));
    team.run([&](int thread) {
        Tally tally;  // not in the shared array: neighbors there would share a cache line
        work(thread, tally);
        tallies[static_cast<std::size_t>(thread)] = tally;
    });
    const auto threads = static_cast<double>(tallies.size());
    Stage distance{"distance"}, select{"select"}, refine{"refine"};
    for (const Tally& tally : tallies) {
        distance.total_ms += tally.distance_ms / threads;
        select.total_ms += tally.select_ms / threads;
        refine.total_ms += tally.refine_ms / threads;
        refine.launches += tally.refined;
        distance.bytes += tally.bytes;
        distance.launches += tally.tasks;
    }
    select.launches = distance.launches;
    distance.operations = 2.0 * pairs * static_cast<double>(dim);
    timeline.add(distance);
    timeline.add(select);
    if (refine.launches > 0) timeline.add(refine);
}

}  // namespace knn::cpu
