#include "cpu/best.h"
#include "tests/support/test.h"

namespace knn {
namespace {

TEST_CASE("cpu::BestLists: keeps the k smallest by distance, then index") {
    std::mt19937 random(5);
    for (const int k : {1, 2, 15, 16, 17, 100, 1024, 2'048})
        for (const unsigned levels : {1U, 3U, 1'000'000U}) {
            CAPTURE(k);
            CAPTURE(levels);
            std::vector<std::uint32_t> distances(3'000);
            std::vector<Neighbor> all;
            for (std::uint32_t i = 0; i < distances.size(); ++i) {
                distances[i] = static_cast<std::uint32_t>(random() % levels);
                all.push_back({distances[i], i});
            }
            cpu::BestLists best(2, k);
            best.clear(2, 2);
            for (std::size_t first = 0; first < distances.size(); first += 250)
                best.take(1, std::span(distances).subspan(first, 250), static_cast<std::int64_t>(first));
            std::vector<Neighbor> got(static_cast<std::size_t>(k));
            best.finish(1, got);
            std::sort(all.begin(), all.end());
            CHECK(std::equal(got.begin(), got.end(), all.begin()));
            best.finish(0, got);  // unused entries hold the sentinel
            CHECK(got.front() == Neighbor{0xffffffffU, 0xffffffffU});
        }
}

TEST_CASE("cpu::BestLists: two lists that lower each other's limits have the k smallest of both, ties too") {
    std::mt19937 random(6);
    for (const unsigned levels : {1U, 3U, 50U, 1'000'000U}) {
        CAPTURE(levels);
        constexpr int k = 20;
        cpu::BestLists best(2, k);
        best.clear(2, 2);
        std::vector<Neighbor> all, got(std::size_t{2} * k);
        // Slices take pieces of 50 images in turn.
        for (std::uint32_t first = 0; first < 3'000; first += 50) {
            std::vector<std::uint32_t> distances(50);
            for (std::uint32_t i = 0; i < distances.size(); ++i)
                all.push_back({distances[i] = static_cast<std::uint32_t>(random() % levels), first + i});
            const std::int64_t slice = random() % 2;
            best.take(slice, distances, first);
            const std::uint32_t limit = best.limit(slice);
            if (limit < 0xffffffffU) best.lower(1 - slice, limit + 1);
        }
        best.finish(0, std::span(got).first(k));
        best.finish(1, std::span(got).last(k));
        std::ranges::sort(got);
        std::ranges::sort(all);
        CHECK(std::equal(got.begin(), got.begin() + k, all.begin()));
    }
}

TEST_CASE("cpu::BestLists: takes the lanes of a hit, but no padding") {
    cpu::BestLists best(4, 3);
    best.clear(1, 4);
    CHECK(best.limits()[0] == 0xffffffffU);
    CHECK(best.limits()[1] == 0);
    cpu::Hit hit{.query = 0, .first = 8, .lanes = 0b1101, .distance = {30, 1, 10, 20}};
    best.take({&hit, 1}, 100, 111);  // images 108, 110, 111: the last one is beyond the training set
    std::vector<Neighbor> got(3);
    best.finish(0, got);
    CHECK(got[0] == Neighbor{10, 110});
    CHECK(got[1] == Neighbor{30, 108});
    CHECK(got[2] == Neighbor{0xffffffffU, 0xffffffffU});
}

TEST_CASE("cpu::BestLists: both sides of a hit, and lists of several threads joined by distance and index") {
    const std::vector<std::uint32_t> nothing(16, 0xffffffffU);
    cpu::BestLists all(16, 2), some(2, 2), others(2, 2);
    all.clear(16, 16);
    const cpu::Hit hit{.query = 1, .first = 8, .lanes = 0b110, .distance = {0, 7, 8}};
    all.add_reverse({&hit, 1}, 0, 10, 3);  // image 4 is a neighbor of image 9; 10 is beyond the training set
    std::vector<Neighbor> got(2);
    all.finish(9, got);
    CHECK(got[0] == Neighbor{7, 4});
    CHECK(got[1].distance == 0xffffffffU);
    all.finish(10, got);
    CHECK(got[0].distance == 0xffffffffU);

    some.clear(std::span(nothing).first(1), 2);
    others.clear(std::vector<std::uint32_t>{6}, 2);  // takes nothing at 6
    CHECK(others.limits()[1] == 0);
    for (std::uint32_t i = 0; i < 40; ++i)
        some.take(0, std::vector<std::uint32_t>{5}, 100 + i);
    others.take(0, std::vector<std::uint32_t>{5, 6, 5}, 20);
    all.add(0, some, 0, 0);  // the larger indices first
    all.add(0, others, 0, 0);
    all.finish(0, got);
    CHECK(got[0] == Neighbor{5, 20});
    CHECK(got[1] == Neighbor{5, 22});

    some.clear(2, 2);
    some.start(0, all, 0, 22);  // not 22
    some.take(0, std::vector<std::uint32_t>{4}, 30);
    all.add(1, some, 0, 22);  // not 20
    all.finish(1, got);
    CHECK(got[0] == Neighbor{4, 30});
    CHECK(got[1].distance == 0xffffffffU);
    for (std::uint32_t i = 0; i < 9; ++i)
        all.take(2, std::vector<std::uint32_t>{50 - i}, i);
    CHECK(all.limits()[2] == 0xffffffffU);
    all.tighten(2);
    CHECK(all.limits()[2] == 43);
}

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
