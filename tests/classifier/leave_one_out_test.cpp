#include "classifier/leave_one_out.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "classifier/vote.h"

using namespace knn;

namespace {

/// Points on a line: image i is one pixel of value 7 i % 251, label i % 10.
struct Line {
    std::vector<std::uint8_t> pixels, labels;

    explicit Line(std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
            pixels.push_back(static_cast<std::uint8_t>(i * 7 % 251));
            labels.push_back(static_cast<std::uint8_t>(i % 10));
        }
    }
    Training training() const { return {{pixels.data(), std::ssize(pixels), 1}, labels, {1, 1}}; }
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
    for (std::int64_t i = 0; i < 300; ++i) {
        std::vector<Neighbor> all;
        for (std::int64_t j = 0; j < 300; ++j) {
            const int d = line.pixels[std::size_t(i)] - line.pixels[std::size_t(j)];
            if (j != i) all.push_back({static_cast<std::uint32_t>(d * d), static_cast<std::uint32_t>(j)});
        }
        std::sort(all.begin(), all.end());
        all.resize(3);
        const Vote expected = vote(all, line.labels, method.vote);
        const SampledAnswer& got = answers[std::size_t(i)];
        REQUIRE(got.evidence.share == expected.confidence);
        REQUIRE(got.evidence.margin == evidence(all, line.labels, expected, method.vote, {}).margin);
        REQUIRE(got.right == (expected.label == line.labels[std::size_t(i)] ? 1 : 0));
        REQUIRE(got.distance == mean_distance(all, {}));
        REQUIRE(got.nearest_label == line.labels[all[0].index]);
        REQUIRE(got.unlikeness == 0);
    }
}

TEST_CASE("leave one out with unlikeness") {
    const Line line(250);
    const LeaveOneOut answers = line.sample({.vote = {.k = 1}}, true);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        int nearest = 255 * 255;
        for (std::size_t j = 0; j < 250; ++j) {
            const int d = line.pixels[i] - line.pixels[j];
            if (j != i) nearest = std::min(nearest, d * d);
        }
        REQUIRE(answers[i].unlikeness == doctest::Approx(2 * std::log(std::max(double(nearest), 1e-3))));
    }
}

TEST_CASE("too few images have no sample") {
    CHECK(Line(199).sample({}).empty());
    CHECK(Line(200).sample({}).size() == 200);
    CHECK(Line(200).sample({.vote = {.k = 200}}).empty());
}
