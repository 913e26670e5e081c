/// Leave-one-out of all configurations against plain loops: for each image all others are sorted, and each k votes anew.

#include "classifier/tune.h"

#include "tests/support/oracle.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

struct SortedPoints {
    test::Rows images;
    std::vector<std::uint8_t> labels;
    std::array<std::int64_t, 256> sizes{};       ///< of the classes
    mutable std::map<Metric, Neighbors> sorted;  ///< all images by distance to each, once asked for

    SortedPoints(std::int64_t n, int levels, const std::vector<int>& classes)
        : images(test::random_rows(n, 9, 5, levels)) {
        for (std::int64_t i = 0; i < n; ++i)
            labels.push_back(
                static_cast<std::uint8_t>(classes[static_cast<std::size_t>(i * i + i / 3) % classes.size()]));
        for (const std::uint8_t label : labels)
            ++sizes[label];
    }
    Training training() const { return {images, labels, {3, 3}}; }
};

/// Whether leaving image i out gets it wrong.
bool naive_wrong(const SortedPoints& points, const Method& method, std::int64_t i) {
    const auto n = static_cast<int>(points.images.n);
    Neighbors& sorted = points.sorted[method.measure.metric];
    if (sorted.n_query == 0) sorted = test::nearest(points.images, points.images, n, method.measure);
    std::vector<Neighbor> others;
    for (const Neighbor& one : sorted.row(i))
        if (one.index != i) others.push_back(one);
    const int truth = points.labels[static_cast<std::size_t>(i)], k = method.vote.k;
    if (method.vote.votes == VoteKind::majority) {
        others.resize(static_cast<std::size_t>(k), {});
        return test::vote(others, points.labels, method.vote.weights, method.vote.tie, method.measure)
                   .label != truth;
    }
    others.resize(std::min(others.size(), static_cast<std::size_t>(std::max(k, method.rerank.candidates))),
                  {});
    return test::class_mean_vote(others, points.labels, k, method.vote.tie, points.sizes).label != truth;
}

TunedSearch tuned(const SortedPoints& points, const Method& method, const VoteRange& range,
                  ProgressToken token = {}) {
    const Training training = points.training();
    TunedSearch search(method, range, points.images.n);
    const Index classifier(training, search.searched(),
                           resolve_on_cpu(search.searched().problem(training, points.images.n), 0));
    Timeline timeline;
    search.run(classifier, timeline, token);
    return search;
}

/// All voting rules with these k.
VoteRange up_to(int low, int high) {
    VoteRange range;
    range.k = all_k(low, high);
    return range;
}

bool bit(const WrongImages& wrong, std::int64_t i) {
    return (wrong[static_cast<std::size_t>(i / 64)] >> (i % 64) & 1) != 0;
}

}  // namespace

TEST_CASE("tune: every configuration is wrong where plain loops are") {
    for (const int levels : {2, 5}) {  // 2: equal images, ties everywhere
        const SortedPoints points(80, levels, {0, 7, 200, 255});
        std::vector<Method> methods(3);
        methods[0].rerank.candidates = 20;  // of class-mean: fewer than the largest k
        methods[1].measure.metric = Metric::l1;
        methods[2].measure.metric = Metric::cosine;
        for (const Method& method : methods) {
            const TunedSearch search = tuned(points, method, up_to(2, 30));
            const bool has_means = method.measure.metric != Metric::cosine;
            REQUIRE(search.configurations().size() == (has_means ? 6 : 4) * 29);
            for (std::size_t c = 0; c < search.configurations().size(); ++c) {
                Method tried = search.configurations()[c].method;
                CHECK(tried.measure == method.measure);
                for (std::int64_t i = 0; i < 80; ++i)
                    if (bit(search.configurations()[c].wrong, i) != naive_wrong(points, tried, i))
                        FAIL_CHECK("image " << i << ", configuration " << c);
            }
        }
    }
}

TEST_CASE("tune: a range that asks for less has the same outcomes") {
    const SortedPoints points(100, 4, {1, 2, 3});
    const TunedSearch all = tuned(points, {}, up_to(1, 12));
    const TunedSearch part =
        tuned(points, {},
              {.k = {3, 5}, .votes = VoteKind::majority, .weights = Weights::distance, .tie = Tie::nearest});
    REQUIRE(part.configurations().size() == 2);
    int found = 0;
    for (std::size_t a = 0; a < all.configurations().size(); ++a)
        for (std::size_t b = 0; b < part.configurations().size(); ++b)
            if (all.configurations()[a].method == part.configurations()[b].method) {
                CHECK(all.configurations()[a].wrong == part.configurations()[b].wrong);
                ++found;
            }
    CHECK(found == 2);
}

TEST_CASE("tune: a set that is searched in parts has the errors of leave-one-out") {
    const SortedPoints points(4200, 5, {3, 9, 4});  // a re-ranker's parts have 4,096 images
    Method method;
    method.rerank = {.kind = RerankKind::cells, .candidates = 10, .density = false};
    const TunedSearch search =
        tuned(points, method,
              {.k = {3}, .votes = VoteKind::majority, .weights = Weights::uniform, .tie = Tie::smallest});
    REQUIRE(search.configurations().size() == 1);
    const Training training = points.training();
    const Method tried = search.configurations()[0].method;
    const Index classifier(training, tried, resolve_on_cpu(tried.problem(training, 4200), 0));
    const auto votes = classifier.search(Queries::all_of(training.rows)).votes;
    for (std::int64_t i = 0; i < 4200; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (bit(search.configurations()[0].wrong, i) != (votes[at].label != points.labels[at]))
            FAIL_CHECK("image " << i);
    }
}

TEST_CASE("tune: ranks by errors, then by order, and tests each against the best") {
    const SortedPoints points(130, 3, {4, 5});
    std::vector<TunedSearch> searches;
    searches.push_back(tuned(points, {}, up_to(1, 9)));
    Method l1;
    l1.measure.metric = Metric::l1;
    searches.push_back(tuned(points, l1, up_to(1, 9)));
    const std::vector<Configuration> all = ranked(searches, 130);
    REQUIRE(all.size() == 108);
    CHECK(all[0].p_value == 1);
    for (std::size_t c = 0; c < all.size(); ++c) {
        std::int64_t errors = 0, only_best = 0, only_this = 0;
        for (std::int64_t i = 0; i < 130; ++i) {
            const bool best = naive_wrong(points, all[0].method, i),
                       wrong = naive_wrong(points, all[c].method, i);
            errors += wrong ? 1 : 0;
            only_best += wrong && !best ? 1 : 0;
            only_this += best && !wrong ? 1 : 0;
        }
        CHECK(all[c].errors == errors);
        CHECK(all[c].p_value == mcnemar_p(only_best, only_this));
        CHECK(all[c].as_good_as_best == (all[c].p_value >= 0.05));
        CHECK(all[c].share.low <= static_cast<double>(errors) / 130);
        CHECK(all[c].share.high >= static_cast<double>(errors) / 130);
        if (c > 0) CHECK(all[c - 1].errors <= errors);
        if (c > 0 && all[c - 1].errors == errors) CHECK(all[c - 1].search <= all[c].search);
    }
}

TEST_CASE("tune: few images, one class, all images equal") {
    const SortedPoints two(2, 4, {9, 8});
    CHECK(ranked(std::vector{tuned(two, {}, up_to(1, 1))}, 2).front().errors == 2);
    const SortedPoints one_class(20, 4, {255});
    for (const Configuration& one : ranked(std::vector{tuned(one_class, {}, up_to(1, 19))}, 20))
        CHECK((one.errors == 0 && one.as_good_as_best));
    const SortedPoints equal(70, 1, {0, 1, 1});
    const TunedSearch search = tuned(equal, {}, up_to(1, 69));
    for (std::size_t c = 0; c < search.configurations().size(); c += 31)
        for (std::int64_t i = 0; i < 70; ++i)
            CHECK(bit(search.configurations()[c].wrong, i) ==
                  naive_wrong(equal, search.configurations()[c].method, i));
    CHECK(lonely_labels(std::vector<std::uint8_t>{3, 0, 3, 255, 9, 9}) == std::vector<std::uint8_t>{0, 255});
}

TEST_CASE("tune: stops when asked to, and reports progress in images") {
    const SortedPoints points(300, 4, {1, 2});
    std::atomic<bool> stop = true;
    CHECK_THROWS_AS(tuned(points, {}, up_to(1, 5), {.progress = {}, .stop = &stop}), Interrupted);
    std::int64_t last = 0;
    tuned(points, {}, up_to(1, 5), {.progress = [&](std::int64_t done, std::int64_t total) {
              CHECK(total == 300);
              CHECK(done >= last);
              last = done;
          }});
}
