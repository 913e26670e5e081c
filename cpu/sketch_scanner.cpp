#include "cpu/sketch_scanner.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "data/core/round_up.h"

namespace knn::cpu {

namespace {

/// Images without a limit, and how many times as many are read before the next refinement.
constexpr std::int64_t least_first_images = 128, growth = 4;
std::int64_t first_images(int k) {
    return std::max<std::int64_t>(least_first_images, 2 * k);
}

/// A list with more is refined.
std::size_t list_capacity(int k) {
    return static_cast<std::size_t>(8 * first_images(k));
}

constexpr std::int64_t lists_bytes_of_thread = 8 << 20;

/// Candidates that are sorted at once, and those between two updates of the limit.
constexpr std::size_t sorted_at_once = 48, refined_at_once = 4, spare = 4;

/// The processor itself fetches what follows.
constexpr std::int64_t fetched_bytes = 1024;

/// Of the refinement of a candidate, what it costs in a list; the part of direct products that lists and refinement may take.
constexpr double listing_cost = 0.03, worthwhile = 0.7;

/// The panel that is read as number `unit` of `count`: about 0.618 of all further than the one before.
std::int64_t spread(std::int64_t unit, std::int64_t count) {
    std::int64_t stride = count * 618 / 1000;
    while (std::gcd(stride, count) != 1)
        ++stride;
    return unit * stride % count;
}

}  // namespace

SketchScanner::SketchScanner(const Sketched& sketched, const Resident& exact, int k, std::int64_t max_block,
                             bool may_give_up)
    : sketched_(sketched),
      exact_(exact),
      k_(k),
      panels_(sketched.resident().scanner(max_block)),
      capacity_(list_capacity(k)),
      may_give_up_(may_give_up),
      sketches_(max_block, sketched.columns()),
      limits_(static_cast<std::size_t>(round_up(max_block, sketched.kernel().queries))),
      reaches_(static_cast<std::size_t>(max_block)),
      lists_(static_cast<std::size_t>(max_block) * capacity_),
      counts_(static_cast<std::size_t>(max_block)) {}

std::int64_t SketchScanner::bytes(const Kernel& kernel, std::int64_t columns, int k, std::int64_t max_block) {
    const auto key = static_cast<std::int64_t>(list_capacity(k) * sizeof(std::uint64_t));
    return PanelScanner::bytes(kernel, columns, max_block) +
           max_block * (key + columns + 6 * std::int64_t{sizeof(std::uint32_t)});
}

std::int64_t SketchScanner::max_block(const Resident& sketches, int k) {
    const auto list = static_cast<std::int64_t>(list_capacity(k) * sizeof(std::uint64_t));
    const std::int64_t fitting = round_up(lists_bytes_of_thread / list, sketches.kernel.queries);
    return std::min(fitting, sketches.max_block());
}

void SketchScanner::begin(Rows queries, Tally& tally) {
    const auto start = Clock::now();
    queries_ = queries;
    sketched_.sketcher().make(queries, sketched_.kernel(), 0, sketches_);
    tally.distance_ms += ms_since(start);
    panels_.begin({sketches_.bytes.data(), queries.count, sketches_.columns}, tally);
    std::fill(limits_.begin(), limits_.end(), 0U);
    std::fill(counts_.begin(), counts_.end(), 0U);
    std::fill(reaches_.begin(), reaches_.end(), no_bound);
    n_read_ = n_listed_ = n_refined_ = 0;
    refine_at_ = divide_up(first_images(k_), sketched_.kernel().images);
    gives_up_ = false;
    begun_ = Clock::now();
    refine_ms_ = 0;
}

void SketchScanner::scan(std::int64_t unit, BestLists& best, Tally& tally) {
    if (gives_up_) return;
    const std::int64_t images = sketched_.kernel().images, n_train = exact_.train.count;
    const std::int64_t panel = spread(unit, divide_up(n_train, images));
    const std::uint64_t error = sketched_.panel_error(panel);
    for (std::size_t q = 0; q < static_cast<std::size_t>(queries_.count); ++q)
        limits_[q] = sketch_limit(reaches_[q] + error) + 1;
    const std::span<const Hit> hits = panels_.hits(panel, limits_.data());
    for (const Hit& hit : hits)
        for (std::uint32_t lanes = hit.lanes; lanes != 0; lanes &= lanes - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
            const std::int64_t image = panel * images + hit.first + lane;
            if (image >= n_train) break;
            std::uint32_t& count = counts_[hit.query];
            lists_[hit.query * capacity_ + count] =
                neighbor_key({hit.distance[lane], static_cast<std::uint32_t>(image)});
            ++n_listed_;
            if (++count < capacity_) continue;
            refine(hit.query, best, false);
            if (count > capacity_ / 2) refine(hit.query, best, true);
        }
    tally.bytes += static_cast<double>(panels_.panel_bytes());
    if (++n_read_ < refine_at_) return;
    refine(best, false, tally);
    refine_at_ *= growth;
}

bool SketchScanner::finish(BestLists& best, Tally& tally) {
    // Not panel by panel: to look at the clock takes a tenth of the time of a panel and few queries.
    tally.distance_ms += ms_since(begun_) - refine_ms_;
    refine(best, true, tally);
    tally.refined += n_refined_;
    return !gives_up_;
}

void SketchScanner::refine(BestLists& best, bool all, Tally& tally) {
    const auto start = Clock::now();
    for (std::int64_t q = 0; q < queries_.count && !gives_up_; ++q)
        refine(q, best, all);
    const double ms = ms_since(start);
    refine_ms_ += ms;
    tally.refine_ms += ms;
}

/// Prefetches the images of the next candidates, which lie anywhere.
void SketchScanner::fetch(std::span<const std::uint64_t> candidates) const {
    for (std::size_t i = 0; i < std::min(candidates.size(), refined_at_once); ++i) {
        const std::uint8_t* const row = sketched_.exact().row(neighbor_of_key(candidates[i]).index);
        for (std::int64_t p = 0; p < std::min(queries_.dim, fetched_bytes); p += 64)
            __builtin_prefetch(row + p);
    }
}

/// Compares the candidates with the smallest bounds exactly: all that the falling reach does not prune, or only some, which lowers it almost
/// as far. The list keeps the others.
void SketchScanner::refine(std::int64_t query, BestLists& best, bool all) {
    const auto q = static_cast<std::size_t>(query);
    std::uint64_t* const list = lists_.data() + q * capacity_;
    std::span<std::uint64_t> rest(list, counts_[q]);
    const auto is_pruned = [&](std::uint64_t key) {
        const auto [bound, image] = neighbor_of_key(key);
        return bound > sketch_limit(reaches_[q] + sketched_.error(image));
    };
    const auto prune = [&] {
        if (reaches_[q] < no_bound)
            rest = rest.first(
                static_cast<std::size_t>(std::remove_if(rest.begin(), rest.end(), is_pruned) - rest.begin()));
    };
    prune();
    while (!rest.empty()) {
        const std::size_t n =
            std::min(rest.size(), all ? sorted_at_once : static_cast<std::size_t>(k_) + spare);
        const std::span<std::uint64_t> next = rest.first(n);
        if (n < rest.size()) std::nth_element(rest.begin(), next.end(), rest.end());
        std::sort(next.begin(), next.end());
        fetch(next);
        for (std::size_t i = 0; i < n; ++i) {
            if (i % refined_at_once == 0) {
                set_reach(query, best);
                fetch(next.subspan(std::min(n, i + refined_at_once)));
            }
            if (is_pruned(next[i])) continue;
            const std::uint32_t image = neighbor_of_key(next[i]).index;
            best.take(query, sketched_.score(queries_.row(query), sketches_.sums[q], image), image);
            ++n_refined_;
        }
        set_reach(query, best);
        rest = rest.subspan(n);
        prune();
        if (may_give_up_ && costs_too_much()) gives_up_ = true;
        if (!all || gives_up_) break;
    }
    std::copy(rest.begin(), rest.end(), list);
    counts_[q] = static_cast<std::uint32_t>(rest.size());
}

void SketchScanner::set_reach(std::int64_t query, BestLists& best) {
    best.tighten(query);
    const std::uint32_t limit = best.limit(query);
    if (limit == no_limit) return;
    const auto q = static_cast<std::size_t>(query);
    reaches_[q] = std::uint64_t{sketched_.sketcher().reach(limit)} + sketches_.errors[q];
}

bool SketchScanner::costs_too_much() const {
    const double cost = refinement_cost(exact_), n = static_cast<double>(queries_.count);
    const double spent = static_cast<double>(n_refined_) + listing_cost * static_cast<double>(n_listed_);
    const double first = listing_cost * static_cast<double>(first_images(k_)) + k_ + sorted_at_once;
    const double pairs = n * static_cast<double>(n_read_ * sketched_.kernel().images);
    return spent * cost > worthwhile * pairs + n * first * cost;
}

}  // namespace knn::cpu
