#include "cpu/keys.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace knn::cpu {

namespace {

/// Below, comparisons are faster than counts of digits.
constexpr std::size_t many = 512;

}  // namespace

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
