#include "cpu/sketch_self_search.h"

#include <bit>

#include "data/core/round_up.h"

namespace knn::cpu {

namespace {

/// A multiple of the images of a panel, and of the queries of a strip, for all kernels.
constexpr std::int64_t images_of_block = 384;

/// 2^i blocks: as many images for each of the k neighbors as are fastest. In larger groups direct products take longer than the
/// refinement that better limits spare.
constexpr std::int64_t images_per_neighbor = 24;
std::int64_t group_for(int k) {
    return images_of_block * static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(
                                 divide_up(images_per_neighbor * k, images_of_block))));
}

/// The part of direct products that refinement may take, and the part of all of them that it may take beside: near pairs come first.
constexpr double most_refinement = 0.7, first_allowance = 0.2;

/// Halves the images again and again, by which of two that are far apart is nearer: parts of 2^i groups, of which the last may be
/// smaller.
std::vector<std::uint32_t> similar_order(const Sketched& sketched, std::int64_t group, Team& team) {
    struct Key {
        std::int32_t distance;
        std::uint32_t image;
        bool operator<(const Key& other) const { return distance < other.distance; }
    };
    const Rows rows = sketched.rows();
    std::vector<Key> keys(static_cast<std::size_t>(rows.count));
    for (std::size_t i = 0; i < keys.size(); ++i)
        keys[i] = {0, static_cast<std::uint32_t>(i)};
    const auto groups = static_cast<std::uint64_t>(divide_up(rows.count, group));
    for (auto part = static_cast<std::int64_t>(std::bit_ceil(groups)) * group; part > group; part /= 2)
        team.run_pieces(divide_up(rows.count, part), 1, [&](int, std::int64_t i, std::int64_t) {
            const auto at = [&](std::int64_t place) { return keys.begin() + std::min(place, rows.count); };
            const auto first = at(i * part), middle = at(i * part + part / 2), last = at((i + 1) * part);
            const auto add_distances = [&](std::uint32_t from, std::int32_t sign) {
                for (auto key = first; key != last; ++key) {
                    std::uint32_t distance = 0;
                    sketched.kernel().direct(rows.row(from), rows.row(key->image), 1, rows.dim, &distance);
                    key->distance += sign * static_cast<std::int32_t>(distance);
                }
            };
            const auto farthest_from = [&](std::uint32_t image) {
                std::for_each(first, last, [](Key& key) { key.distance = 0; });
                add_distances(image, 1);
                return std::max_element(first, last)->image;
            };
            if (middle == last) return;
            const std::uint32_t one = farthest_from(first->image), other = farthest_from(one);
            add_distances(other, -1);
            std::nth_element(first, middle, last);
        });
    std::vector<std::uint32_t> order;
    for (const Key& key : keys)
        order.push_back(key.image);
    for (std::int64_t first = 0; first < rows.count; first += group)
        std::sort(order.begin() + first, order.begin() + std::min(first + group, rows.count));
    return order;
}

}  // namespace

/// What a thread reuses.
struct SketchSelfSearch::Thread {
    PanelScanner panels;
    Uninitialized<std::uint32_t> limits, image_limits;
    std::vector<Pair> refined = {};
};

SketchSelfSearch::SketchSelfSearch(const Resident& exact, const Sketched& sketched, const Queries& queries,
                                   int k, bool may_give_up, std::span<Neighbor> found, Timeline& timeline,
                                   const ProgressToken& token)
    : exact_(exact),
      n_(queries.count()),
      k_(k),
      leaves_out_(queries.leaves_out()),
      may_give_up_(may_give_up),
      group_(group_for(k)),
      block_(images_of_block),
      blocks_(divide_up(n_, block_)),
      found_(found),
      timeline_(timeline),
      token_(token),
      team_(exact.plan.threads, token, n_, divide_up(n_, exact.kernel.images)),
      order_(similar_order(sketched, group_, team_)),
      sketched_(sketched, order_, team_, timeline),
      limits_(static_cast<std::size_t>(n_)),
      reaches_(static_cast<std::size_t>(n_)),
      mutexes_(static_cast<std::size_t>(blocks_)),
      difference_(group_ / block_) {}

void SketchSelfSearch::set_reach(std::int64_t place) {
    const auto at = static_cast<std::size_t>(place);
    limits_[at] = best_of(place).back().distance;
    reaches_[at].store(sketched_.sketcher().reach(limits_[at]) + sketched_.error(place),
                       std::memory_order_relaxed);
}

/// Adds an image to the list of another.
void SketchSelfSearch::take(std::int64_t place, std::int64_t other, std::uint32_t distance) {
    if (distance > limits_[static_cast<std::size_t>(place)]) return;
    const std::span<Neighbor> best = best_of(place);
    const Neighbor one{distance, order_[static_cast<std::size_t>(other)]};
    if (one > best.back()) return;
    const auto to = std::upper_bound(best.begin(), best.end(), one);
    std::move_backward(to, best.end() - 1, best.end());
    *to = one;
    set_reach(place);
}

/// By direct products. Images of a group are in ascending order, and so ties are decided as by their indices.
void SketchSelfSearch::search_group(std::int64_t group) {
    const std::int64_t first = group * group_, n = std::min(group_, n_ - first);
    Plan plan = exact_.plan;
    plan.threads = 1;
    Resident rows{sketched_.exact().slice(first, n), exact_.measure, exact_.kernel, plan};
    Queries all = leaves_out_ ? Queries::all_of(rows.train) : Queries(rows.train);
    Neighbors found(n, k_);
    Timeline timeline;
    SelfSearch(rows, all, k_, found.rows, timeline, token_.quiet()).run();
    for (std::int64_t i = 0; i < n; ++i) {
        std::ranges::transform(found.row(i), best_of(first + i).begin(), [&](Neighbor one) {
            return one == no_neighbor
                       ? one
                       : Neighbor{one.distance, order_[static_cast<std::size_t>(first) + one.index]};
        });
        set_reach(first + i);
    }
}

void SketchSelfSearch::pack() {
    for (std::int64_t block = 0; block < blocks_; ++block) {
        const std::int64_t first = block * block_, n = size_of(block);
        packed_.emplace_back(sketched_.kernel(), sketched_.rows().dim, n)
            .fill(sketched_.rows().slice(first, n));
        std::uint32_t most = 0;
        for (std::int64_t place = first; place < first + n; ++place)
            most = std::max(most, sketched_.error(place));
        errors_.push_back(most);
    }
}

/// Each pair of blocks row < column of different groups once, those of the same small part of the order first.
std::optional<BlockPair> SketchSelfSearch::next() {
    const std::lock_guard lock(mutex_);
    for (; difference_ < 2 * blocks_ && !gives_up_; ++difference_, row_ = 0)
        while (row_ < blocks_) {
            const BlockPair pair{row_, row_ ^ difference_};
            ++row_;
            if (pair.row < pair.column && pair.column < blocks_) return pair;
        }
    return std::nullopt;
}

void SketchSelfSearch::compare_pairs(int thread, Tally& tally) {
    const Kernel& kernel = sketched_.kernel();
    const auto block = static_cast<std::size_t>(block_), images = static_cast<std::size_t>(kernel.images);
    Thread own{sketched_.resident().scanner(block_), Uninitialized<std::uint32_t>(block),
               Uninitialized<std::uint32_t>(images)};
    while (const auto pair = next()) {
        if (team_.halted()) return;
        compare(thread, *pair, own, tally);
        ++tally.tasks;
        if (may_give_up_ && costs_too_much()) gives_up_ = true;
    }
}

void SketchSelfSearch::compare(int thread, BlockPair pair, Thread& own, Tally& tally) {
    const std::int64_t images = sketched_.kernel().images, first = pair.row * block_, n = size_of(pair.row),
                       begin = pair.column * block_, end = begin + size_of(pair.column);
    const auto row = static_cast<std::size_t>(pair.row), column = static_cast<std::size_t>(pair.column);
    own.panels.begin(sketched_.rows().slice(first, n), packed_[row]);
    const auto set_limits = [&](auto& limits, std::int64_t place, std::int64_t count, std::uint32_t error) {
        std::fill(limits.begin(), limits.end(), 0U);
        for (std::int64_t i = 0; i < count; ++i)
            limits[static_cast<std::size_t>(i)] = sketch_limit(reach(place + i) + error) + 1;
    };
    for (std::int64_t image = begin; image < end && !team_.halted(); image += images) {
        const auto start = Clock::now();
        set_limits(own.limits, first, n, sketched_.panel_error(image / images));
        set_limits(own.image_limits, image, std::min(images, end - image), errors_[row]);
        const auto hits = own.panels.hits(image / images, own.limits.data(), own.image_limits.data());
        const auto middle = Clock::now();
        own.refined.clear();
        refine(hits, first, image, own.refined);
        if (!own.refined.empty()) {
            const std::lock_guard lock(mutexes_[row]);
            for (const Pair& one : own.refined)
                take(one.a, one.b, one.distance);
        }
        if (!own.refined.empty()) {
            const std::lock_guard lock(mutexes_[column]);
            for (const Pair& one : own.refined)
                take(one.b, one.a, one.distance);
        }
        tally.distance_ms += ms_between(start, middle);
        tally.refine_ms += ms_since(middle);
        tally.bytes += static_cast<double>(own.panels.panel_bytes());
        tally.refined += std::ssize(own.refined);
        n_refined_ += std::ssize(own.refined);
        team_.advance(thread, 2 * n);
    }
    n_compared_ += n * (end - begin);
}

/// The exact distances of pairs that neither image prunes.
void SketchSelfSearch::refine(std::span<const Hit> hits, std::int64_t first_query, std::int64_t first_image,
                              std::vector<Pair>& refined) const {
    const Rows exact = sketched_.exact();
    for (const Hit& hit : hits)
        for (std::uint32_t lanes = hit.lanes; lanes != 0; lanes &= lanes - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
            const std::int64_t a = first_query + hit.query, b = first_image + hit.first + lane;
            const std::uint32_t bound = hit.distance[lane];
            if (b >= n_ || (bound > sketch_limit(reach(a) + sketched_.error(b)) &&
                            bound > sketch_limit(reach(b) + sketched_.error(a))))
                continue;
            refined.push_back({a, b, sketched_.score(exact.row(a), sketched_.sums(a), b)});
        }
}

bool SketchSelfSearch::costs_too_much() const {
    const double all = static_cast<double>(n_) * static_cast<double>(n_) / 2;
    return pair_refinement_cost(exact_) * static_cast<double>(n_refined_) >
           most_refinement * static_cast<double>(n_compared_) + first_allowance * all;
}

std::optional<std::int64_t> SketchSelfSearch::run() {
    const auto start = Clock::now();
    team_.run_pieces(divide_up(n_, group_), 1, [&](int, std::int64_t i, std::int64_t) { search_group(i); });
    timeline_.add({.name = "distance", .total_ms = ms_since(start)});
    pack();
    const double n = static_cast<double>(n_), pairs = n * (n + static_cast<double>(block_)) / 2;
    run_tallied(team_, pairs, sketched_.columns(), timeline_,
                [&](int thread, Tally& tally) { compare_pairs(thread, tally); });
    return gives_up_ ? std::nullopt : std::optional(block_);
}

}  // namespace knn::cpu
