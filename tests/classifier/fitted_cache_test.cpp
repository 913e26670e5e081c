#include "classifier/fitted_cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/rerank_images.h"
#include "tests/support/surroundings.h"
#include "tests/support/temp_folder.h"

using namespace knn;
using namespace knn::test;
namespace fs = std::filesystem;

namespace {

/// Images in memory under a name of their own, and a cache folder.
struct Kept {
    static constexpr std::int64_t n = 240;
    static constexpr ImageShape shape{9, 8};
    TempFolder folder;
    Surroundings surroundings{folder.path()};
    std::vector<std::uint8_t> images = rerank_images(int{n}, shape, 3), labels;
    TrainingIdentity identity{"some files\n", "name"};
    Method method{.rerank = {.kind = Reranker::both, .candidates = 20},
                  .vote = {.k = 2, .votes = Votes::class_mean}};

    Kept() {
        surroundings.set("XDG_CACHE_HOME", (folder / "cache").string());
        for (std::int64_t i = 0; i < n; ++i)
            labels.push_back(static_cast<std::uint8_t>(i % 8));
    }
    Training training() const { return {{images.data(), n, shape.dim()}, labels, shape}; }
    FittedCache cache() const { return {identity, method, n, 2}; }
    Classifier classifier(const Reranking* reranking = nullptr) const {
        Training used = training();
        used.reranking = reranking;
        return {used, method, resolve_on_cpu(method.problem(used, n), 2)};
    }
    std::vector<fs::path> entries() const {
        std::vector<fs::path> found;
        if (!fs::exists(folder / "cache/mnist-knn")) return found;
        for (const auto& entry : fs::directory_iterator(folder / "cache/mnist-knn"))
            found.push_back(entry.path());
        std::sort(found.begin(), found.end());
        return found;
    }
    /// Fits everything and keeps it.
    LeaveOneOut fill() const {
        Classifier fitted = classifier();
        cache().keep(*fitted.training().reranking, true);
        const LeaveOneOut sample = leave_one_out(fitted, nullptr, {});
        cache().keep(sample);
        cache().keep(Confidence(sample));
        return sample;
    }
};

std::vector<double> numbers(const LeaveOneOut& sample) {
    std::vector<double> all;
    for (const SampledAnswer& one : sample)
        for (const double number :
             {one.evidence.share, one.evidence.distance, one.evidence.margin, one.evidence.alone,
              one.unlikeness, one.distance, double(one.nearest_label), double(one.right)})
            all.push_back(number);
    return all;
}

}  // namespace

TEST_CASE("a spread comes back as it was kept, under a key that has its parameters") {
    Kept kept;
    kept.method.rerank = {.kind = Reranker::spread, .candidates = 20, .spread = {.neighbors = 7}};
    CHECK(kept.cache().reranking(kept.training()) == nullptr);
    const LeaveOneOut sample = kept.fill();
    CHECK(kept.entries().size() == 3);
    const Classifier fitted = kept.classifier();
    const auto all = kept.cache().reranking(kept.training());
    const auto few = kept.cache().reranking_of_few();
    REQUIRE(all != nullptr);
    REQUIRE(few != nullptr);
    for (const Reranking* one : {&all->reranking, &few->reranking}) {
        CHECK(one->spread == fitted.training().reranking->spread);
        CHECK(one->spread.size() == Kept::n);
        Classifier again = kept.classifier(one);
        CHECK(numbers(leave_one_out(again, nullptr, {})) == numbers(sample));
    }
    const auto there = [&](const ClassSpread& spread) {
        Method method = kept.method;
        method.rerank.spread = spread;
        return FittedCache(kept.identity, method, Kept::n, 1).reranking_of_few() != nullptr;
    };
    CHECK(there({.neighbors = 7}));
    CHECK_FALSE(there({.neighbors = 8}));
    CHECK_FALSE(there({.neighbors = 7, .of = SpreadOf::deviation}));
    CHECK_FALSE(there({.neighbors = 7, .by = Scaling::plus}));
    CHECK_FALSE(there({.neighbors = 7, .weight = 1}));
}

TEST_CASE("what is fitted comes back as it was kept") {
    const Kept kept;
    CHECK(kept.cache().reranking(kept.training()) == nullptr);
    CHECK(kept.cache().reranking_of_few() == nullptr);
    CHECK_FALSE(kept.cache().sample());
    CHECK_FALSE(kept.cache().confidence());
    const LeaveOneOut sample = kept.fill();
    REQUIRE(sample.size() == Kept::n);
    CHECK(kept.entries().size() == 4);

    const Classifier fitted = kept.classifier();
    const Reranking& expected = *fitted.training().reranking;
    const auto all = kept.cache().reranking(kept.training());
    REQUIRE(all != nullptr);
    CHECK(all->reranking.density == expected.density);
    CHECK(all->reranking.train.layout == expected.train.layout);
    CHECK(std::ranges::equal(all->reranking.train.all(), expected.train.all()));
    CHECK(all->mapped.span().data() == all->reranking.train.all().data());
    const auto few = kept.cache().reranking_of_few();
    REQUIRE(few != nullptr);
    CHECK(few->reranking.density == expected.density);
    CHECK(few->reranking.train.count() == 0);
    for (const Reranking* one : {&all->reranking, &few->reranking}) {
        Classifier again = kept.classifier(one);
        CHECK(numbers(leave_one_out(again, nullptr, {})) == numbers(sample));
    }
    CHECK(numbers(kept.cache().sample().value()) == numbers(sample));
    for (const SampledAnswer& one : sample)
        CHECK(kept.cache().confidence()->probability(one.evidence) ==
              Confidence(sample).probability(one.evidence));
}

TEST_CASE("a damaged or cut entry of what is fitted is not believed") {
    const Kept kept;
    kept.fill();
    const auto readable = [&] {
        return std::vector<bool>{kept.cache().confidence().has_value(),
                                 kept.cache().reranking_of_few() != nullptr,
                                 kept.cache().sample().has_value()};
    };
    REQUIRE(readable() == std::vector<bool>{true, true, true});
    for (const bool cut : {false, true}) {
        for (const fs::path& entry : kept.entries()) {
            std::string bytes = read_file(entry);
            if (cut)
                bytes.resize(bytes.size() - 8);
            else
                bytes[bytes.size() - 9] = static_cast<char>(bytes[bytes.size() - 9] ^ 4);
            std::ofstream(entry, std::ios::binary | std::ios::trunc) << bytes;
        }
        CHECK(readable() == std::vector<bool>{false, false, false});
        kept.fill();
    }
    // Damaged descriptors are made again, and kept.
    for (const fs::path& entry : kept.entries())
        if (entry.filename().string().starts_with("descriptors-")) fs::resize_file(entry, 100);
    const auto made = kept.cache().reranking(kept.training());
    REQUIRE(made != nullptr);
    CHECK(made->mapped.span().empty());
    const auto mapped = kept.cache().reranking(kept.training());
    REQUIRE(mapped != nullptr);
    CHECK(!mapped->mapped.span().empty());
    CHECK(std::ranges::equal(made->reranking.train.all(), mapped->reranking.train.all()));
}

TEST_CASE("what is fitted belongs to its files, settings and number of images") {
    Kept kept;
    kept.fill();
    const Method usual = kept.method;
    const auto there = [&](const FittedCache& cache) {
        return std::vector<bool>{cache.reranking_of_few() != nullptr, cache.sample().has_value(),
                                 cache.confidence().has_value()};
    };
    const std::vector<bool> nothing(3), all(3, true), density{true, false, false};
    CHECK(there(kept.cache()) == all);
    CHECK(there(FittedCache(kept.identity, usual, Kept::n - 1, 1)) == nothing);
    CHECK(there(FittedCache({"changed files\n", "name"}, usual, Kept::n, 1)) == nothing);
    CHECK(there(FittedCache({"", "name"}, usual, Kept::n, 1)) == nothing);
    CHECK_FALSE(FittedCache().sample());
    CHECK_FALSE(FittedCache().confidence());
    const auto with = [&](auto change) {
        Method method = usual;
        change(method);
        return there(FittedCache(kept.identity, method, Kept::n, 1));
    };
    CHECK(with([](Method& m) { m.vote.k = 3; }) == density);
    CHECK(with([](Method& m) { m.vote.tie = Tie::nearest; }) == density);
    CHECK(with([](Method& m) { m.vote.votes = Votes::majority; }) == density);
    CHECK(with([](Method& m) { m.rerank.candidates = 21; }) == density);
    CHECK(with([](Method& m) { m.rerank.kind = Reranker::cells; }) == nothing);
    CHECK(with([](Method& m) { m.measure.metric = Metric::l1; }) == nothing);
    CHECK(with([](Method& m) { m.transform = {{{TransformKind::gradients, 0}}}; }) == nothing);
    // A re-ranking without density has nothing to fit; its answers are others.
    CHECK(with([](Method& m) { m.rerank.density = false; }) == density);
}
