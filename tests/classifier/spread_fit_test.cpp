#include "classifier/index.h"

#include "classifier/prototypes.h"
#include "cpu/transform/transform.h"
#include "tests/support/oracle.h"
#include "tests/support/plane.h"
#include "tests/support/rerank_images.h"
#include "tests/support/test.h"
#include "tests/support/thread_ranks.h"

namespace knn {
namespace {

/// Plain loops over all pairs, in 64-bit integers.
struct Oracle {
    Neighbors sorted;  ///< all images by distance to each
    std::vector<std::uint8_t> labels;
    Method method;

    Oracle(const test::Rows& rows, std::vector<std::uint8_t> labels_, const Method& method_)
        : sorted(test::nearest(rows, rows, static_cast<int>(rows.n), method_.measure)),
          labels(std::move(labels_)),
          method(method_) {}

    /// What each image makes of 1,000,000 · distance, or of distance.
    std::vector<std::int64_t> terms() const {
        const LocalScaling& spread = method.rerank.spread;
        std::vector<std::int64_t> sizes;
        std::int64_t size_sum = 0, mean_sum = 0, known = 0;
        for (std::size_t t = 0; t < labels.size(); ++t) {
            std::vector<std::int64_t> near;
            for (const Neighbor& one : sorted.row(static_cast<std::int64_t>(t)))
                if (one.index != t && labels[one.index] == labels[t] && std::ssize(near) < spread.neighbors)
                    near.push_back(one.distance);
            const auto count = std::ssize(near);
            if (count == 0) {
                sizes.push_back(-1);
                continue;
            }
            std::int64_t sum = 0, squares = 0;
            for (const std::int64_t one : near)
                sum += one;
            for (const std::int64_t one : near)
                squares += (one - sum / count) * (one - sum / count) / count;
            sizes.push_back(16 * (spread.of == SpreadOf::mean ? sum / count : test::floor_root(squares)));
            size_sum += sizes.back();
            mean_sum += 16 * (sum / count);
            ++known;
        }
        const std::int64_t m = known > 0 ? std::max<std::int64_t>(size_sum / known, 1) : 1;
        const std::int64_t typical = known > 0 ? mean_sum / known / 16 : 0;
        std::vector<std::int64_t> all;
        constexpr std::int64_t one = std::int64_t{1} << 24;
        for (const std::int64_t size : sizes) {
            const std::int64_t r = size < 0 ? m : std::min(std::max(size, (m + 15) / 16), 16 * m);
            std::int64_t q = spread.weight < 0 ? one * m / r : one * r / m, factor = one;
            for (const int part : {8, 4, 2, 1}) {
                if (std::abs(spread.weight) & part) factor = factor * q / one;
                q = test::floor_root(__int128{q} * one);
            }
            const std::int64_t more = typical * (one * r / m) / one - typical;
            all.push_back(spread.by == Scaling::times ? factor : spread.weight * more / 8);
        }
        return all;
    }
    std::vector<Neighbor> search(std::int64_t query, int k, const std::vector<std::int64_t>& terms,
                                 bool exclude) const {
        const auto all = sorted.row(query);
        std::vector<Neighbor> found(all.begin(), all.end());
        if (exclude) std::erase_if(found, [&](const Neighbor& one) { return one.index == query; });
        found.resize(std::min(found.size(), static_cast<std::size_t>(std::max(k, method.rerank.candidates))),
                     {});
        for (auto& [distance, index] : found) {
            const std::int64_t before = distance, term = terms[index];
            const bool times = method.rerank.spread.by == Scaling::times;
            distance = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
                times ? before * term / (1 << 24) : before + term, 0, 4'294'967'294));
        }
        std::sort(found.begin(), found.end());
        found.resize(static_cast<std::size_t>(k), {});
        return found;
    }
};

/// Images with equal ones among them; labels 255 (one image), 3 (two images), and 0 to 2.
struct Set : test::Labeled {
    explicit Set(int n)
        : Labeled({7, 6}, n, 9, [](int i) { return i == 4             ? 255
                                                   : i == 7 || i == 9 ? 3
                                                                      : i / 3 % 3; }) {}
};

Oracle oracle(const Set& set, const Method& method) {
    const Training training = set.training();
    test::Rows rows{set.pixels, training.rows.count, training.rows.dim};
    if (!method.transform.is_raw()) {
        const FittedTransform fitted = cpu::fit(method.transform, training.rows, training.shape);
        rows.pixels = cpu::features(fitted, training.rows, 1, nullptr);
        rows.dim = fitted.dim_out();
    }
    return {rows, set.labels, method};
}

void check_against_oracle(const Set& set, const Method& method, bool exclude) {
    CAPTURE(reranker_text(method.rerank));
    CAPTURE(method.transform.text());
    const Training training = set.training();
    const std::int64_t n = training.rows.count;
    Index classifier(training, method, resolve_on_cpu(method.problem(training, n), 2));
    const Oracle expected = oracle(set, method);
    const std::vector<std::int64_t> terms = expected.terms();
    REQUIRE(std::ranges::equal(classifier.reranking().spread, terms));
    const Neighbors found =
        classifier.search(exclude ? Queries::all_of(training.rows) : training.rows, {.vote = false})
            .neighbors;
    for (std::int64_t q = 0; q < n; ++q) {
        const auto row = found.row(q);
        REQUIRE(std::vector<Neighbor>(row.begin(), row.end()) ==
                expected.search(q, method.vote.k, terms, exclude));
    }
}

TEST_CASE("class spread: terms and neighbors are those of plain loops") {
    const Set set(90);
    for (const char* transform : {"raw", "gradients"})
        for (const Metric metric : {Metric::l2, Metric::l1})
            for (const SpreadOf of : {SpreadOf::mean, SpreadOf::deviation})
                for (const Scaling by : {Scaling::times, Scaling::plus})
                    for (const auto& [neighbors, weight] :
                         std::vector<std::pair<int, int>>{{1, 8}, {4, -4}, {5, 3}, {200, -7}})
                        check_against_oracle(set,
                                             {.transform = parse_transform("--transform", transform),
                                              .measure = {metric},
                                              .rerank = {.kind = RerankKind::spread,
                                                         .candidates = 20,
                                                         .spread = {neighbors, of, by, weight}},
                                              .vote = {.k = 6}},
                                             neighbors % 2 == 0);
}

TEST_CASE("class spread: more neighbors than candidates, one class, two images, one image") {
    const RerankSpec rerank{.kind = RerankKind::spread, .candidates = 10};
    check_against_oracle(Set(40), {.rerank = rerank, .vote = {.k = 30}}, true);
    check_against_oracle(Set(2), {.rerank = rerank, .vote = {.k = 1}}, true);
    check_against_oracle(Set(1), {.rerank = rerank, .vote = {.k = 1}}, false);
    Set one_class(30);
    std::fill(one_class.labels.begin(), one_class.labels.end(), std::uint8_t{200});
    check_against_oracle(one_class, {.rerank = rerank, .vote = {.k = 3}}, true);
    Set equal(30);
    std::fill(equal.pixels.begin(), equal.pixels.end(), std::uint8_t{9});
    check_against_oracle(equal, {.rerank = rerank, .vote = {.k = 3}}, true);
}

TEST_CASE("class spread: metrics that are no integers, and images without labels, are refused") {
    const Set set(30);
    Method method{.measure = {Metric::cosine}, .rerank = {.kind = RerankKind::spread}, .vote = {.k = 3}};
    CHECK_THROWS_WITH_AS(
        method.problem(set.training(), 1),
        "§rerank spread: scales integers, which distances by cosine are not; expected §metric l2 or l1",
        UsageError);
    method.measure = {};
    Training training = set.training();
    training.labels = {};
    CHECK_THROWS_AS(Index(training, method, resolve_on_cpu(method.problem(training, 1), 1)), UsageError);
}

TEST_CASE("class spread: ranks, and a part of a training set, answer as one classifier") {
    const Set set(60);
    const Training training = set.training();
    for (const char* transform : {"gradients", "raw"}) {
        const Method method{.transform = parse_transform("--transform", transform),
                            .rerank = {.kind = RerankKind::spread, .candidates = 15},
                            .vote = {.k = 5}};
        const Resolved resolved = resolve_on_cpu(method.problem(training, 60), 1);
        const Results alone = Index(training, method, resolved).search(training.rows);
        for (const Placement by : {Placement::replicate, Placement::shard})
            test::run_ranks(2, [&](Ranks& ranks) {
                Resolved own = resolved;
                own.ranks = &ranks;
                own.plan.ranks = 2;
                own.plan.placement = by;
                CHECK(Index(training, method, own).search(training.rows).neighbors.rows ==
                      alone.neighbors.rows);
            });
        const SubsetSearch part(training, method, resolved);
        const Indices all = all_indices(60);
        const auto answers = part.answers(all, part.nearest(all, all, part.depth(60), {}), {});
        for (std::size_t i = 0; i < answers.size(); ++i)
            CHECK(answers[i] == alone.votes[i].label);
    }
}

}  // namespace
}  // namespace knn
