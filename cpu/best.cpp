#include "cpu/best.h"

#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace knn::cpu {

namespace {

constexpr std::uint32_t no_image = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t sentinel = std::numeric_limits<std::uint64_t>::max();

/// Of keys; below, comparisons are faster than counts of digits.
constexpr std::size_t many = 512;

/// Spare capacity: little keeps the limit tight, much makes pruning rare. Sorting needs k places.
std::size_t capacity_of(int k) {
    return static_cast<std::size_t>(k + std::max(k, 16));
}

}  // namespace

BestLists::BestLists(std::int64_t queries, int k)
    : k_(static_cast<std::size_t>(k)),
      capacity_(capacity_of(k)),
      keys_(static_cast<std::size_t>(queries) * capacity_),
      limits_(static_cast<std::size_t>(queries)),
      counts_(static_cast<std::size_t>(queries)),
      excluded_(static_cast<std::size_t>(queries)) {}

std::int64_t BestLists::bytes(std::int64_t queries, int k) {
    return queries *
           static_cast<std::int64_t>(capacity_of(k) * sizeof(std::uint64_t) + 3 * sizeof(std::uint32_t));
}

void BestLists::clear(std::int64_t queries, std::int64_t n_lists) {
    std::fill_n(counts_.data(), n_lists, 0U);
    std::fill_n(excluded_.data(), n_lists, no_image);
    std::fill_n(limits_.data(), queries, no_limit);
    std::fill_n(limits_.data() + queries, n_lists - queries, 0U);
}

void BestLists::clear(std::span<const std::uint32_t> limits, std::int64_t n_lists) {
    clear(std::ssize(limits), n_lists);
    std::copy(limits.begin(), limits.end(), limits_.data());
}

void BestLists::prune(std::size_t query) {
    std::uint64_t* const keys = keys_.data() + query * capacity_;
    if (counts_[query] < k_) return;
    keep_least({keys, counts_[query]}, k_);
    counts_[query] = static_cast<std::uint32_t>(k_);
    limits_[query] = std::min(limits_[query], neighbor_of_key(keys[k_ - 1]).distance);
}

void BestLists::put(std::size_t query, std::uint32_t distance, std::uint32_t index) {
    if (distance >= limits_[query] || index == excluded_[query]) return;
    keys_[query * capacity_ + counts_[query]] = neighbor_key({distance, index});
    if (++counts_[query] == capacity_) prune(query);
}

void BestLists::put(std::size_t q, std::uint64_t key) {
    std::uint64_t* const keys = keys_.data() + q * capacity_;
    // A list with a limit has been pruned: the worst of the best is still where that put it.
    if (limits_[q] != no_limit && key > keys[k_ - 1]) return;
    keys[counts_[q]] = key;
    if (++counts_[q] == capacity_) prune(q);
}

void BestLists::take(std::span<const Hit> hits, std::int64_t first, std::int64_t n_train) {
    for (const Hit& hit : hits) {
        const std::size_t q = hit.query;
        std::uint32_t count = counts_[q];
        if (count + max_lanes > capacity_) {
            prune(q);
            count = counts_[q];
        }
        const std::uint32_t limit = limits_[q], excluded = excluded_[q];
        std::uint64_t* const keys = keys_.data() + q * capacity_;
        const std::int64_t image = first + hit.first;
        std::uint32_t lanes = hit.lanes;
        if (n_train - image < max_lanes) lanes &= (1U << std::max<std::int64_t>(n_train - image, 0)) - 1;
        for (; lanes != 0; lanes &= lanes - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
            const std::uint32_t index = static_cast<std::uint32_t>(image) + lane;
            keys[count] = neighbor_key({hit.distance[lane], index});
            count += static_cast<std::uint32_t>(hit.distance[lane] < limit) &
                     static_cast<std::uint32_t>(index != excluded);
        }
        counts_[q] = count;
    }
}

void BestLists::add_reverse(std::span<const Hit> hits, std::int64_t first, std::int64_t n_train,
                            std::int64_t first_query) {
    const auto before = static_cast<std::uint32_t>(first_query);
    for (const Hit& hit : hits)
        for (std::uint32_t lanes = hit.lanes; lanes != 0; lanes &= lanes - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
            const std::int64_t image = first + hit.first + lane;
            if (image < n_train) put(static_cast<std::size_t>(image), hit.distance[lane], before + hit.query);
        }
}

void BestLists::start(std::int64_t query, const BestLists& some, std::int64_t list, std::int64_t end) {
    const auto to = static_cast<std::size_t>(query);
    for (const std::uint64_t key : some.keys(list))
        if (neighbor_of_key(key).index < end) keys_[to * capacity_ + counts_[to]++] = key;
}

void BestLists::add(std::int64_t query, const BestLists& some, std::int64_t list, std::int64_t begin) {
    for (const std::uint64_t key : some.keys(list))
        if (neighbor_of_key(key).index >= begin) put(static_cast<std::size_t>(query), key);
}

void BestLists::take(std::int64_t query, std::span<const std::uint32_t> distances, std::int64_t first) {
    for (std::size_t i = 0; i < distances.size(); ++i)
        put(static_cast<std::size_t>(query), distances[i],
            static_cast<std::uint32_t>(first + static_cast<std::int64_t>(i)));
}

void BestLists::take(std::int64_t query, std::uint32_t distance, std::uint32_t image) {
    const auto q = static_cast<std::size_t>(query);
    if (image != excluded_[q]) put(q, neighbor_key({distance, image}));
}

void BestLists::finish(std::int64_t query, std::span<Neighbor> best) {
    const auto q = static_cast<std::size_t>(query);
    prune(q);
    std::uint64_t* const keys = keys_.data() + q * capacity_;
    std::fill(keys + counts_[q], keys + k_, sentinel);
    sort_keys({keys, k_}, keys + k_);
    std::transform(keys, keys + k_, best.begin(), neighbor_of_key);
}

void keep_least(std::span<std::uint64_t> keys, std::size_t k) {
    const auto rank = static_cast<std::ptrdiff_t>(k) - 1;
    if (keys.size() < many) {
        std::nth_element(keys.begin(), keys.begin() + rank, keys.end());
        return;
    }
    // One digit: the highest bits in which keys differ.
    constexpr int digit_bits = 11;
    std::uint64_t different = 0;
    for (const std::uint64_t key : keys)
        different |= key ^ keys.front();
    const int shift = std::max(0, static_cast<int>(std::bit_width(different)) - digit_bits);
    constexpr std::uint64_t mask = (1 << digit_bits) - 1;
    std::array<std::uint32_t, mask + 1> counts{};
    for (const std::uint64_t key : keys)
        ++counts[(key >> shift) & mask];
    std::uint64_t last = 0;  // the digit of the k-th
    for (std::size_t before = 0; before + counts[last] < k; ++last)
        before += counts[last];
    // Keys with a smaller digit, then those with the same one, of which some are among the k.
    std::size_t n = 0;
    for (const std::uint64_t key : keys) {
        keys[n] = key;
        n += ((key >> shift) & mask) <= last ? 1 : 0;
    }
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(n);
    const auto same =
        std::partition(keys.begin(), end, [&](std::uint64_t key) { return ((key >> shift) & mask) < last; });
    std::nth_element(same, keys.begin() + rank, end);
}

void sort_keys(std::span<std::uint64_t> keys, std::uint64_t* scratch) {
    if (keys.size() < many) {
        std::sort(keys.begin(), keys.end());
        return;
    }
    constexpr std::size_t digits = sizeof(std::uint64_t), values = 256;
    std::array<std::array<std::uint32_t, values>, digits> counts{};
    for (const std::uint64_t key : keys)
        for (std::size_t digit = 0; digit < digits; ++digit)
            ++counts[digit][(key >> (8 * digit)) & (values - 1)];
    std::uint64_t *from = keys.data(), *to = scratch;
    for (std::size_t digit = 0; digit < digits; ++digit) {
        auto& places = counts[digit];
        if (places[(from[0] >> (8 * digit)) & (values - 1)] == keys.size()) continue;  // all have this one
        std::uint32_t place = 0;
        for (std::uint32_t& count : places)
            place += std::exchange(count, place);
        for (std::size_t i = 0; i < keys.size(); ++i)
            to[places[(from[i] >> (8 * digit)) & (values - 1)]++] = from[i];
        std::swap(from, to);
    }
    if (from != keys.data()) std::copy_n(from, keys.size(), keys.data());
}

}  // namespace knn::cpu
