#include "classifier/leave_one_out.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "classifier/vote.h"
#include "tests/support/points.h"

using namespace knn;

namespace {

/// Points on a line: image i is one pixel of value 7 i % 251, label i % 10.
struct Line {
    test::Rows points;
    std::vector<std::uint8_t> labels;

    explicit Line(std::int64_t count) : points{{}, count, 1} {
        for (std::int64_t i = 0; i < count; ++i) {
            points.pixels.push_back(static_cast<std::uint8_t>(i * 7 % 251));
            labels.push_back(static_cast<std::uint8_t>(i % 10));
        }
    }
    Training training() const { return {test::view(points), labels, {1, 1}}; }
    Neighbors nearest(int k) const { return test::right(points, points, k, {.first = 0}); }
    LeaveOneOut sample(const Method& method, bool unlike = false) const {
        const Training used = training();
        Index classifier(used, method, resolve_on_cpu(method.problem(used, 1), 2));
        const ComparedRows compared{used.rows, grid_of(nullptr, used.shape), used.labels, {}};
        return leave_one_out(classifier, unlike ? &compared : nullptr, {});
    }
};

}  // namespace

TEST_CASE("a sample is spread evenly, and over every remainder of its indices") {
    for (const std::int64_t n : {200, 4999, 6000, 60'000, 240'000}) {
        const std::vector<std::uint32_t> sample = strided_sample(n);
        const std::int64_t m = std::ssize(sample);
        CHECK(m == std::min<std::int64_t>(n, 4999));
        for (const std::int64_t period : {2, 3, 4, 5, 10, 12}) {
            std::vector<std::int64_t> counts(static_cast<std::size_t>(period));
            for (const std::uint32_t image : sample) {
                REQUIRE(image < n);
                ++counts[static_cast<std::size_t>(image % period)];
            }
            const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
            CAPTURE(n);
            CAPTURE(period);
            CHECK(*most - *least <= std::max<std::int64_t>(1, m / period / 20));
        }
    }
}

TEST_CASE("leave one out: each image is classified by all the others") {
    const Line line(300);
    const Method method{.vote = {.k = 3}};
    const LeaveOneOut answers = line.sample(method);
    REQUIRE(answers.size() == 300);
    const Neighbors nearest = line.nearest(3);
    for (std::int64_t i = 0; i < 300; ++i) {
        const auto all = nearest.row(i);
        const Vote expected = vote(all, line.labels, method.vote);
        const SampledAnswer& got = answers[std::size_t(i)];
        REQUIRE(got.confidence_features.share == expected.vote_share);
        REQUIRE(got.confidence_features.margin ==
                confidence_features(all, line.labels, expected, method.vote, {}).margin);
        REQUIRE(got.right == (expected.label == line.labels[std::size_t(i)] ? 1 : 0));
        REQUIRE(got.distance == mean_distance(all, {}));
        REQUIRE(got.nearest_label == line.labels[all[0].index]);
        REQUIRE(got.novelty == 0);
    }
}

TEST_CASE("leave one out with novelty") {
    const Line line(250);
    const LeaveOneOut answers = line.sample({.vote = {.k = 1}}, true);
    const Neighbors nearest = line.nearest(1);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const double distance = nearest.rows[i].distance;
        REQUIRE(answers[i].novelty == doctest::Approx(2 * std::log(std::max(distance, 1e-3))));
    }
}

TEST_CASE("too few images have no sample") {
    CHECK(Line(199).sample({}).empty());
    CHECK(Line(200).sample({}).size() == 200);
    CHECK(Line(200).sample({.vote = {.k = 200}}).empty());
}
