#include "classifier/rejection.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace knn;

namespace {

/// Points on a line: image i is one pixel of value i % 251, label i % 10.
struct LineSet {
    std::vector<std::uint8_t> pixels, labels;
    TrainingSet set;

    explicit LineSet(std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
            pixels.push_back(static_cast<std::uint8_t>(i * 7 % 251));
            labels.push_back(static_cast<std::uint8_t>(i % 10));
        }
        set.images = {pixels.data(), count, 1};
        set.labels = labels;
        set.rows = set.cols = 1;
    }
};

/// A sample in which every image has three neighbors at these distances and labels.
LeaveOneOut sample_of(std::int64_t count, const std::vector<Neighbor>& row) {
    LeaveOneOut sample;
    sample.count = count;
    sample.k = static_cast<int>(row.size());
    for (std::int64_t i = 0; i < count; ++i)
        sample.nearest.insert(sample.nearest.end(), row.begin(), row.end());
    return sample;
}

}  // namespace

TEST_CASE("leave one out: the neighbors of a sample, without the images themselves") {
    const LineSet line(300);
    const LeaveOneOut sample = leave_one_out(line.set, line.set.images, {}, false, 2, {});
    REQUIRE(sample.count == 300);
    REQUIRE(sample.k == 32);
    for (std::int64_t i = 0; i < sample.count; ++i) {
        std::vector<Neighbor> all;
        for (std::int64_t j = 0; j < 300; ++j) {
            const int d = line.pixels[static_cast<std::size_t>(i)] - line.pixels[static_cast<std::size_t>(j)];
            if (j != i) all.push_back({static_cast<std::uint32_t>(d * d), static_cast<std::uint32_t>(j)});
        }
        std::sort(all.begin(), all.end());
        const auto row = sample.row(i);
        REQUIRE(std::equal(row.begin(), row.end(), all.begin()));
    }
}

TEST_CASE("leave one out of images that are all equal") {
    LineSet line(400);
    std::fill(line.pixels.begin(), line.pixels.end(), std::uint8_t{9});
    const LeaveOneOut sample = leave_one_out(line.set, line.set.images, {}, false, 2, {});
    REQUIRE(sample.nearest.size() == 400u * 32u);
    CHECK(std::all_of(sample.nearest.begin(), sample.nearest.end(),
                      [](Neighbor n) { return n.distance == 0; }));
}

TEST_CASE("too few images reject nothing") {
    const LineSet line(150);
    const LeaveOneOut sample = leave_one_out(line.set, line.set.images, {}, false, 2, {});
    CHECK(sample.count == 0);
    const Rejection rejection(sample, line.labels, {3, Weights::uniform, Tie::smallest});
    const std::vector<Neighbor> far(3, {4'000'000'000u, 0});
    CHECK(rejection.reason(far, {0, 0.1}).empty());
}

TEST_CASE("far neighbors, doubtful far neighbors and divided neighbors are rejected, each with its reason") {
    const std::vector<std::uint8_t> labels = {0, 1, 2};
    const LeaveOneOut sample = sample_of(500, {{100 * 100, 0}, {100 * 100, 0}, {100 * 100, 1}});
    const Rejection rejection(sample, labels, {3, Weights::uniform, Tie::smallest});
    CHECK(rejection.strange() == doctest::Approx(100 * (1 + 0.3 / 3)));
    CHECK(rejection.divided() == doctest::Approx(2.0 / 3));

    const auto reason = [&](std::uint32_t distance, double share) {
        const std::vector<Neighbor> row(3, {distance * distance, 0});
        return rejection.reason(row, {0, share});
    };
    CHECK(reason(100, 1).empty());
    CHECK(reason(109, 1).empty());
    CHECK(reason(111, 1).find("unlike the training images") == 0);
    CHECK(reason(106, 0.67).find("disagree") != std::string::npos);
    CHECK(reason(106, 0.9).empty());
    CHECK(reason(10, 0.5).find("the neighbors disagree") == 0);
    CHECK(reason(10, 0.67).empty());
}

TEST_CASE("the limits follow k and the kind of vote") {
    const std::vector<std::uint8_t> labels = {0, 1, 2};
    const LeaveOneOut sample = sample_of(500, {{100, 0}, {400, 1}, {400, 2}});
    CHECK(Rejection(sample, labels, {1, Weights::uniform, Tie::smallest}).divided() == 1);
    CHECK(Rejection(sample, labels, {3, Weights::uniform, Tie::smallest}).divided() ==
          doctest::Approx(1.0 / 3));
    CHECK(Rejection(sample, labels, {3, Weights::distance, Tie::smallest}).divided() ==
          doctest::Approx(2.0 / 3));
    // A k above the sample's number of neighbors uses those that it has.
    CHECK(Rejection(sample, labels, {50, Weights::uniform, Tie::smallest}).divided() ==
          doctest::Approx(1.0 / 3));
}

TEST_CASE("a quantile of the sample is the limit, and what lies on the limit is not rejected") {
    LeaveOneOut far{1000, 1, {}}, divided{1000, 100, {}};
    for (std::uint32_t i = 1; i <= 1000; ++i)
        far.nearest.push_back({i * i, 0});
    for (std::uint32_t i = 0; i < 1000; ++i)  // 51, 52, 53, 54 and 100 neighbors of one label
        for (std::uint32_t rank = 0; rank < 100; ++rank)
            divided.nearest.push_back({100, i < 4 && rank >= 51 + i ? 1u : 0u});
    const std::vector<std::uint8_t> labels = {0, 1};

    const Rejection by_distance(far, labels, {1, Weights::uniform, Tie::smallest});
    CHECK(by_distance.strange() == 991);  // at place 0.991 * 999 of 0 .. 999
    const auto at = [](std::uint32_t distance) { return std::vector<Neighbor>{{distance * distance, 0}}; };
    CHECK(by_distance.reason(at(991), {0, 1}).empty());
    CHECK(!by_distance.reason(at(992), {0, 1}).empty());

    const Rejection by_share(divided, labels, {100, Weights::uniform, Tie::smallest});
    CHECK(by_share.divided() == 0.52);  // at place 0.002 * 999
    CHECK(by_share.reason(at(1), {0, 0.52}).empty());
    CHECK(!by_share.reason(at(1), {0, 0.515}).empty());
}
