/// Editing and condensing against plain loops that know nothing of blocks, lists or engines; and what the results
/// promise, with the program's own classifier.

#include "classifier/prototypes.h"

#include "data/core/errors.h"
#include "tests/support/images.h"
#include "tests/support/oracle.h"
#include "tests/support/rerank_images.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

struct Points {
    test::Rows images;
    std::vector<std::uint8_t> labels;
    ImageShape shape;

    /// Labels follow the first byte, some at random: classes that overlap.
    Points(test::Rows images_, int classes, std::uint32_t seed)
        : images(std::move(images_)), shape{1, static_cast<int>(images.dim)} {
        std::mt19937 random(seed);
        for (std::int64_t i = 0; i < images.n; ++i) {
            const unsigned first = images.pixels[static_cast<std::size_t>(i * images.dim)];
            const unsigned label =
                random() % 8 == 0 ? unsigned(random() % 97) : first * unsigned(classes) / 256;
            labels.push_back(static_cast<std::uint8_t>(label % static_cast<unsigned>(classes) * 51));
        }
    }
    Training training() const { return {images, labels, shape}; }
};

Resolved on_cpu(const Training& training, const Method& method, int threads = 2) {
    return resolve_on_cpu(method.problem(training, training.rows.count), threads);
}

/// The neighbors of every image among all, itself included, nearest first.
Neighbors all_neighbors(const Points& points, const Measure& measure) {
    return test::nearest(points.images, points.images, static_cast<int>(points.images.n), measure);
}

/// The vote of the first k of `row` for which `wanted` is true.
template <class Wanted>
int answer(const Points& points, std::span<const Neighbor> row, const VotingRule& rule,
           const Measure& measure, const Wanted& wanted) {
    std::vector<Neighbor> nearest;
    for (const Neighbor& neighbor : row)
        if (std::ssize(nearest) < rule.k && wanted(neighbor.index)) nearest.push_back(neighbor);
    return test::vote(nearest, points.labels, rule.weights, rule.tie, measure).label;
}

Indices indices_of(const std::vector<bool>& chosen) {
    Indices indices;
    for (std::uint32_t i = 0; i < chosen.size(); ++i)
        if (chosen[i]) indices.push_back(i);
    return indices;
}

/// What is kept, and how many images each pass removes.
Edited naive_edit(const Points& points, const Method& method, const Neighbors& rows) {
    Edited edited;
    std::vector<bool> left(points.labels.size(), true);
    for (;;) {
        std::vector<std::size_t> wrong;
        for (std::size_t i = 0; i < left.size(); ++i) {
            const auto wanted = [&](std::size_t j) { return left[j] && j != i; };
            const auto row = rows.row(static_cast<std::int64_t>(i));
            if (left[i] && answer(points, row, method.vote, method.measure, wanted) != points.labels[i])
                wrong.push_back(i);
        }
        for (const std::size_t i : wrong)
            left[i] = false;
        if (wrong.empty()) break;
        edited.removed.push_back(std::ssize(wrong));
    }
    edited.kept = indices_of(left);
    return edited;
}

Indices naive_condense(const Points& points, const Method& method, const Neighbors& rows) {
    std::vector<bool> kept(points.labels.size());
    for (int i = 0; i < method.vote.k; ++i)
        kept[static_cast<std::size_t>(i)] = true;
    const auto in_kept = [&](std::size_t j) { return bool{kept[j]}; };
    const auto in_all = [](std::size_t) { return true; };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::int64_t i = 0; i < rows.n_query; ++i) {
            const auto row = rows.row(i);
            if (answer(points, row, method.vote, method.measure, in_kept) ==
                answer(points, row, method.vote, method.measure, in_all))
                continue;
            const auto next = std::find_if(row.begin(), row.end(),
                                           [&](const Neighbor& one) { return !in_kept(one.index); });
            kept[next->index] = true;
            changed = true;
        }
    }
    return indices_of(kept);
}

std::vector<Method> methods_to_try() {
    return {{.vote = {.k = 1}},
            {.vote = {.k = 3}},
            {.vote = {.k = 5, .weights = Weights::distance, .tie = Tie::nearest}},
            {.measure = {Metric::l1, 2}, .vote = {.k = 2}},
            {.measure = {Metric::cosine, 2}, .vote = {.k = 4, .tie = Tie::nearest}}};
}

/// Random, tied and equal images; some sets have more images than a block of the condenser.
std::vector<Points> sets_to_try() {
    std::vector<Points> sets;
    sets.emplace_back(test::random_rows(300, 4, 1), 3, 1);
    sets.emplace_back(test::random_rows(250, 3, 2, 4), 2, 2);
    sets.emplace_back(test::repeated(test::random_rows(40, 2, 3), 4), 5, 3);
    sets.emplace_back(test::random_rows(60, 3, 4, 1), 2, 4);
    sets.emplace_back(test::random_rows(2100, 3, 5, 32), 3, 5);
    return sets;
}

/// Which of all images get another answer from the images `kept` than from all, by the program's classifier.
std::int64_t answered_otherwise(const Training& training, const Method& method, const Indices& kept) {
    const Resolved resolved = on_cpu(training, method);
    const LabeledImages part = copied(training, kept);
    const auto all = Index(training, method, resolved).search(training.rows).votes;
    const auto some = Index(Training{part.images(), part.labels.span(), part.shape()}, method, resolved)
                          .search(training.rows)
                          .votes;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
        count += all[i].label != some[i].label ? 1 : 0;
    return count;
}

std::vector<Method> methods_of_pictures() {
    Method accurate = methods()[2].method, fewer = accurate, plain = accurate;
    accurate.rerank.candidates = 20;
    fewer.rerank = {.kind = RerankKind::cells, .candidates = 12, .density = false};
    fewer.vote = {.k = 3};
    plain.rerank.kind = RerankKind::none;
    plain.rerank.candidates = 30;
    const auto fitted = [](const TransformStep& step) {
        return Method{.transform = {{step}}, .vote = {.k = 3}};
    };
    return {accurate, fewer, plain, fitted({TransformKind::pca, 6}), fitted({TransformKind::minmax})};
}

}  // namespace

TEST_CASE(
    "condense: what is kept and what editing removes is what plain loops say, on any number of threads") {
    test::EveryThird combination;
    for (const Points& points : sets_to_try()) {
        const Training training = points.training();
        std::map<Metric, Neighbors> rows_by;
        for (const Method& method : methods_to_try()) {
            if (!combination.runs()) continue;
            Neighbors& rows = rows_by[method.measure.metric];
            if (rows.n_query == 0) rows = all_neighbors(points, method.measure);
            const Edited expected = naive_edit(points, method, rows);
            const Indices kept = naive_condense(points, method, rows);
            for (const int threads : {1, 3}) {
                const SubsetSearch set(training, method, on_cpu(training, method, threads));
                if (std::ssize(expected.kept) <= method.vote.k) {
                    CHECK_THROWS_AS(edit(set, {}), DataError);
                } else {
                    const Edited edited = edit(set, {});
                    CHECK(edited.kept == expected.kept);
                    CHECK(edited.removed == expected.removed);
                }
                const Condensed condensed = condense(set, {});
                CHECK(condensed.kept == kept);
                CHECK(condensed.refits == 0);
            }
            CHECK(answered_otherwise(training, method, kept) == 0);
        }
    }
}

TEST_CASE("condense: editing searches again where most of the neighbors have been removed") {
    // Three equal images that are right while they have each other and two of many wrong ones nearby, which go.
    Points points(test::random_rows(83, 1, 1), 2, 1);
    for (std::size_t i = 0; i < 83; ++i) {
        points.images.pixels[i] = i < 3 ? 100 : i < 63 ? 101 : 200;
        points.labels[i] = static_cast<std::uint8_t>(i < 3 ? 0 : i < 63 ? 7 + i : 5);
    }
    const Method method{.vote = {.k = 5}};
    const Edited expected = naive_edit(points, method, all_neighbors(points, {}));
    REQUIRE(expected.removed == std::vector<std::int64_t>{60, 3});
    const Training training = points.training();
    const Edited edited = edit(SubsetSearch(training, method, on_cpu(training, method)), {});
    CHECK(edited.kept == expected.kept);
    CHECK(edited.removed == expected.removed);
}

TEST_CASE("condense: any method gives all images their answers, and edited no leave-one-out error") {
    std::mt19937 random(7);
    const test::Labeled pictures(
        {9, 8}, 160, 7, [&](int i) { return random() % 6 == 0 ? random() % 3 : unsigned(i) % 8 % 3; });
    const Training training = pictures.training();
    for (Method method : methods_of_pictures()) {
        CAPTURE(method.transform.text());
        const Condensed condensed = condense(SubsetSearch(training, method, on_cpu(training, method)), {});
        CHECK(answered_otherwise(training, method, condensed.kept) == 0);
        const bool fitted = method.transform.is_fitted();
        CHECK((condensed.refits > 0) == (fitted || method.vote.votes == VoteKind::class_mean));
        if (fitted) continue;  // what is fitted changes with the images, so all may be needed
        CHECK(std::ssize(condensed.kept) < training.rows.count);

        method.rerank.density = false;  // is fitted on the whole set
        const Edited edited = edit(SubsetSearch(training, method, on_cpu(training, method)), {});
        CHECK(!edited.removed.empty());
        const LabeledImages left = copied(training, edited.kept);
        const Training rest{left.images(), left.labels.span(), left.shape()};
        const auto votes = Index(rest, method, on_cpu(rest, method)).search(Queries::all_of(rest.rows)).votes;
        for (std::size_t i = 0; i < votes.size(); ++i)
            CHECK(votes[i].label == rest.labels[i]);
    }
}

TEST_CASE("condense: by class-mean, small classes are those of the set that is kept") {
    Method method{.measure = {Metric::l1, 2}, .vote = {.k = 7, .votes = VoteKind::class_mean}};
    method.rerank.candidates = 36;
    for (unsigned seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        const Points points(test::random_rows(16 + seed, 3, seed), 4, seed);
        const Training training = points.training();
        const SubsetSearch set(training, method, on_cpu(training, method));
        CHECK(answered_otherwise(training, method, condense(set, {}).kept) == 0);
        try {
            const LabeledImages left = copied(training, edit(set, {}).kept);
            const Training rest{left.images(), left.labels.span(), left.shape()};
            const auto votes =
                Index(rest, method, on_cpu(rest, method)).search(Queries::all_of(rest.rows)).votes;
            for (std::size_t i = 0; i < votes.size(); ++i)
                CHECK(votes[i].label == rest.labels[i]);
        } catch (const DataError&) {  // at most k are left
        }
    }
}

TEST_CASE("condense: one class, a class of one image, two images") {
    const Method method{.vote = {.k = 1}};
    Points points(test::random_rows(50, 3, 9), 1, 9);
    const SubsetSearch one_class(points.training(), method, on_cpu(points.training(), method));
    CHECK(edit(one_class, {}).removed.empty());
    CHECK(condense(one_class, {}).kept == Indices{0});

    points.labels[30] = 255;
    const SubsetSearch lonely(points.training(), method, on_cpu(points.training(), method));
    CHECK(edit(lonely, {}).removed.front() >= 1);
    const Indices kept = condense(lonely, {}).kept;
    CHECK(std::find(kept.begin(), kept.end(), 30U) != kept.end());

    Points two(test::random_rows(2, 3, 10), 1, 10);
    two.labels = {0, 255};
    const SubsetSearch pair(two.training(), method, on_cpu(two.training(), method));
    CHECK_THROWS_WITH_AS(
        edit(pair, {}),
        "editing: leaves 0 of 2 at -k 1; expected more than 1 whose neighbors have their label", DataError);
    CHECK(condense(pair, {}).kept == Indices{0, 1});
    const Method k2{.vote = {.k = 2}};
    CHECK_THROWS_AS(edit(SubsetSearch(two.training(), k2, on_cpu(two.training(), k2)), {}), UsageError);
}

TEST_CASE("condense: a stop request ends it") {
    const Points points(test::random_rows(200, 3, 11), 3, 11);
    const Method method;
    const SubsetSearch set(points.training(), method, on_cpu(points.training(), method));
    const std::atomic<bool> stop = true;
    const ProgressToken token{.progress = {}, .stop = &stop};
    CHECK_THROWS_AS(edit(set, token), Interrupted);
    CHECK_THROWS_AS(condense(set, token), Interrupted);

    const test::Labeled pictures({28, 28}, 40, 3, [](int i) { return i % 3; });
    for (const Method& reranked : methods_of_pictures()) {
        if (!reranked.reranks()) continue;
        const SubsetSearch some(pictures.training(), reranked, on_cpu(pictures.training(), reranked));
        const Indices all = {0, 1, 2};
        const Neighbors near = some.nearest(all, all, 3, {});
        CHECK_THROWS_AS(some.answers(all, near, token), Interrupted);
    }
}
