// One index for several threads, and its batches.

#include "classifier/index.h"

#include "tests/support/rerank_images.h"
#include "tests/support/test.h"

namespace knn {

namespace {

struct Digits {
    test::Labeled train{{12, 9}, 300, 5, [](int i) { return i * 7 % 10; }};
    std::vector<std::uint8_t> query = test::rerank_images(80, train.shape, 6);

    Rows queries() const { return {query.data(), 80, train.shape.dim()}; }
    Index index(const Method& method) const {
        return {train.training(), method, resolve_on_cpu(method.problem(train.training(), 80), 2)};
    }
};

const Method& reranked() {
    static const Method method{.transform = parse_transform("--transform", "gradients"),
                               .rerank = {.kind = RerankKind::both, .candidates = 30},
                               .vote = {.k = 3}};
    return method;
}

bool equal(const Results& a, const Results& b) {
    return a.neighbors.rows == b.neighbors.rows && a.votes == b.votes;
}

}  // namespace

TEST_CASE("index: eight threads with different k, queries and leave-one-out get what one gets") {
    const Digits digits;
    for (const Method& method : {Method{.vote = {.k = 3}}, reranked()}) {
        const Index index = digits.index(method), alone = digits.index(method);
        std::vector<Queries> all{digits.queries(), digits.queries().first(5),
                                 Queries::all_of(digits.train.rows()),
                                 Queries::some_of(digits.train.rows(), {250, 3, 3, 77})};
        struct Asked {
            Queries queries;
            int k;
        };
        std::vector<Asked> jobs;
        for (const int k : {1, 4, 60})
            for (const Queries& queries : all)
                jobs.push_back({queries, k});
        std::vector<Results> expected;
        for (const Asked& job : jobs)
            expected.push_back(alone.search(job.queries, {.k = job.k}));
        std::vector<int> wrong(8);
        {
            std::vector<std::jthread> threads;
            for (std::size_t t = 0; t < wrong.size(); ++t)
                threads.emplace_back([&, t] {
                    for (std::size_t i = 0; i < jobs.size(); ++i) {
                        const std::size_t j = (i + t * 5) % jobs.size();
                        wrong[t] += !equal(index.search(jobs[j].queries, {.k = jobs[j].k}), expected[j]);
                    }
                });
        }
        for (const int count : wrong)
            CHECK(count == 0);
    }
}

TEST_CASE("index: a batch callback gets each query once, with the results' votes and evidence") {
    const Digits digits;
    for (const Method& method : {Method{.vote = {.k = 3}}, reranked()})
        for (const bool vote : {true, false}) {
            const Index index = digits.index(method);
            std::vector<int> times(80);
            Neighbors heard(80, 3);
            const Results found = index.search(
                digits.queries(), {.vote = vote, .on_batch = [&](const ResultBatch& batch) {
                                       CHECK(batch.votes.size() == (vote ? batch.neighbors.size() / 3 : 0));
                                       CHECK(batch.confidence_features.size() == batch.votes.size());
                                       std::copy(batch.neighbors.begin(), batch.neighbors.end(),
                                                 heard.row(batch.first).begin());
                                       for (std::size_t i = 0; i < batch.neighbors.size() / 3; ++i)
                                           ++times[static_cast<std::size_t>(batch.first) + i];
                                   }});
            CHECK(heard.rows == found.neighbors.rows);
            CHECK(found.votes.empty() == !vote);
            CHECK(times == std::vector<int>(80, 1));
        }
}

TEST_CASE("queries: some images of a set, consecutive or not, are rows of it or of their features") {
    std::vector<std::uint8_t> pixels(20), features(10);
    for (std::size_t i = 0; i < 20; ++i)
        pixels[i] = static_cast<std::uint8_t>(i);
    for (std::size_t i = 0; i < 10; ++i)
        features[i] = static_cast<std::uint8_t>(100 + i);
    const Rows train{pixels.data(), 10, 2}, other{features.data(), 10, 1};
    const Queries all = Queries::all_of(train), some = Queries::some_of(train, 3, 4),
                  any = Queries::some_of(train, {7, 2, 2});
    CHECK(all.is_training_set);
    CHECK_FALSE(some.is_training_set);
    CHECK(some.rows.pixels == train.row(3));
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(any.rows.row(static_cast<std::int64_t>(i))[0] == 2 * any.images[i]);
    CHECK(Queries::some_of(train, {2, 4, 7}).rows.row(1)[0] == 8);
    const Queries same = any.as_rows_of(other), part = any.slice(1, 2);
    CHECK(same.rows.row(0)[0] == 107);
    CHECK(same.images.data() == any.images.data());
    CHECK(part.rows.row(0)[0] == 4);
    CHECK(part.images[0] == 2);
    CHECK(all.slice(0, 10).is_training_set);
    CHECK_FALSE(all.slice(1, 9).is_training_set);
    CHECK(Queries::some_of(train, {}).count() == 0);
}

}  // namespace knn
