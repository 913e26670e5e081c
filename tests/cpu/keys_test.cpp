#include "cpu/best.h"
#include "tests/support/test.h"

namespace knn {
namespace {

/// Keys as searches have them: distances below `levels`, ascending indices; or any bits.
std::vector<std::uint64_t> random_keys(std::size_t n, std::uint64_t levels, std::mt19937_64& random) {
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < n; ++i)
        keys.push_back(levels > 0 ? random() % levels << 32 | i : random());
    return keys;
}

TEST_CASE("cpu::keys: the k least, and all in order") {
    std::mt19937_64 random(7);
    for (const std::size_t n : {1, 2, 511, 512, 513, 4'000, 40'000})
        for (const std::uint64_t levels : {0, 1, 3, 1'000, 100'000'000}) {
            const std::vector<std::uint64_t> keys = random_keys(n, levels, random);
            std::vector<std::uint64_t> right = keys, sorted = keys, scratch(n);
            std::sort(right.begin(), right.end());
            cpu::sort_keys(sorted, scratch.data());
            CAPTURE(n);
            CAPTURE(levels);
            CHECK(sorted == right);
            for (const std::size_t k : {std::size_t{1}, n / 3 + 1, n - n / 4, n}) {
                std::vector<std::uint64_t> least = keys;
                cpu::keep_least(least, k);
                CHECK(least[k - 1] == right[k - 1]);
                std::sort(least.begin(), least.begin() + static_cast<std::ptrdiff_t>(k));
                CHECK(
                    std::equal(least.begin(), least.begin() + static_cast<std::ptrdiff_t>(k), right.begin()));
            }
        }
}

TEST_CASE("cpu::keys: one far key hides the digits of the others, and equal ones fill places") {
    constexpr std::uint64_t far = ~std::uint64_t{0};
    std::vector<std::uint64_t> keys(3'000, far);
    for (std::uint64_t i = 0; i < 2'000; ++i)
        keys[i] = 1'999 - i;
    std::vector<std::uint64_t> scratch(keys.size()), least = keys;
    cpu::keep_least(least, 100);
    CHECK(least[99] == 99);
    cpu::sort_keys(keys, scratch.data());
    for (std::uint64_t i = 0; i < keys.size(); ++i)
        CHECK(keys[i] == (i < 2'000 ? i : far));
}

}  // namespace
}  // namespace knn
