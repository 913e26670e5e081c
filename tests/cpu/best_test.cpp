#include "cpu/best.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace knn {
namespace {

TEST_CASE("cpu::BestLists: keeps the k smallest by distance, then index") {
    std::mt19937 random(5);
    for (const int k : {1, 2, 15, 16, 17, 100, 1024})
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

}  // namespace
}  // namespace knn
