/// What is fitted to a training set: made once, kept in the cache, and made again where an entry does not fit.

#include "classifier/training_set.h"

#include "classifier/confidence.h"
#include "classifier/index.h"
#include "cpu/rerank/rerank.h"
#include "cpu/transform/transform.h"
#include "tests/support/points.h"
#include "tests/support/rerank_images.h"
#include "tests/support/surroundings.h"
#include "tests/support/test.h"
#include "tests/support/transform_oracle.h"

using namespace knn;
using namespace knn::test;
namespace fs = std::filesystem;

namespace {

/// Images in memory under a name of their own, and a cache folder.
struct Kept : OwnCache {
    static constexpr std::int64_t n = 240;
    static constexpr ImageShape shape{9, 8};
    std::vector<std::uint8_t> images = rerank_images(int{n}, shape, 3), labels;
    TrainingIdentity identity{"some files\n", "name"};
    Method method{.rerank = {.kind = RerankKind::both, .candidates = 20},
                  .vote = {.k = 2, .votes = VoteKind::class_mean}};

    Kept() {
        for (std::int64_t i = 0; i < n; ++i)
            labels.push_back(static_cast<std::uint8_t>(i % 8));
    }
    /// As another run of the program gets it: nothing is in memory.
    TrainingSet fresh(std::int64_t count = n) const { return set_of(identity, count); }
    TrainingSet set_of(const TrainingIdentity& whose, std::int64_t count = n) const {
        const auto all = std::span(labels).first(static_cast<std::size_t>(count));
        return {Training{{images.data(), count, shape.dim()}, all, shape}, whose};
    }
    Index classifier(const TrainingSet& of) const {
        return {of, method, resolve_on_cpu(method.problem(of.view(), n), 2)};
    }
    std::vector<fs::path> entries(const std::string& type = "") const {
        std::vector<fs::path> found;
        if (!fs::exists(file(""))) return found;
        for (const auto& entry : fs::directory_iterator(file("")))
            if (entry.path().filename().string().starts_with(type)) found.push_back(entry.path());
        std::sort(found.begin(), found.end());
        return found;
    }
    /// Changes or cuts the last bytes of all entries.
    void damage(bool cut) const {
        for (const fs::path& entry : entries()) {
            std::string bytes = read_file(entry);
            if (cut)
                bytes.resize(bytes.size() - 8);
            else
                bytes[bytes.size() - 9] = static_cast<char>(bytes[bytes.size() - 9] ^ 4);
            fs::remove(entry);  // a set in this process may have it mapped
            std::ofstream(entry, std::ios::binary) << bytes;
        }
    }
    /// Fits everything and keeps it.
    LeaveOneOut fill() const {
        Index fitted = classifier(fresh());
        const LeaveOneOut sample = fitted_sample(fitted, {});
        fitted.set().keep<Confidence::Weights>(Fitted::confidence, method,
                                               std::array{Confidence(sample).weights()});
        return sample;
    }
};

struct MadeFeatures {
    Features features;
    bool from_cache;
};

/// The features of a set that has none in memory.
MadeFeatures features_now(const TrainingSet& set, const std::string& text) {
    Timeline timeline;
    const Features& features = set.features(parse_transform("transform", text), 2, nullptr, timeline);
    return {features, timeline.stages().empty()};
}

/// Whether the features come from the cache; CHECKs that they are those of the oracle, and that a query gets the same
/// transform.
bool is_cached(const TrainingSet& set, const std::string& text) {
    CAPTURE(text);
    const MadeFeatures made = features_now(set, text);
    const Features& features = made.features;
    const FittedTransform fitted = cpu::fit(parse_transform("transform", text), set.images(), set.shape());
    const test::Rows expected = features_of(fitted, set.images());
    CHECK(features.transform.spec == fitted.spec);
    REQUIRE(features.rows.count == expected.n);
    REQUIRE(features.rows.dim == expected.dim);
    CHECK(std::equal(expected.pixels.begin(), expected.pixels.end(), features.rows.pixels));
    CHECK(features_now(set, text).features.rows.pixels == features.rows.pixels);
    const test::Rows query = random_rows(3, set.images().dim, 8);
    const knn::Rows rows{query.pixels.data(), query.n, query.dim};
    CHECK(cpu::features(features.transform, rows) == features_of(fitted, rows).pixels);
    return made.from_cache;
}

bool same(const LeaveOneOut& a, const LeaveOneOut& b) {
    return std::ranges::equal(a, b, [](const SampledAnswer& x, const SampledAnswer& y) {
        return x.confidence_features == y.confidence_features && x.novelty == y.novelty &&
               x.distance == y.distance && x.nearest_label == y.nearest_label && x.right == y.right;
    });
}

/// Whether density or spread, the sample and the weights of confidences are there.
std::vector<bool> there(const TrainingSet& set, const Method& method) {
    return {is_fitted(set, method), find_sample(set, method).has_value(),
            !set.find<Confidence::Weights>(Fitted::confidence, method, 1).empty()};
}

}  // namespace

TEST_CASE_FIXTURE(Kept, "training set: features are made once, then read from the cache, projections too") {
    const std::vector<std::string> texts = {"gradients",      "hog", "deskew", "pca:5", "deskew,pca:7,pca:3",
                                            "gradients,pca:4"};
    for (const std::string& text : texts) {
        for (const bool cached : {false, true, true})
            CHECK(is_cached(fresh(), text) == cached);
        CHECK_FALSE(is_cached(set_of({}), text));
    }
    CHECK(entries("features-").size() == texts.size());
    const TrainingSet set = fresh();
    CHECK(features_now(set, "raw").features.rows.pixels == images.data());
    CHECK(entries().size() == texts.size());
}

TEST_CASE_FIXTURE(Kept, "training set: another list, number of images or file is another entry") {
    for (const std::string text : {"pca:5", "pca:6", "deskew,pca:5", "deskew:0.5,pca:5"})
        CHECK_FALSE(is_cached(fresh(), text));
    CHECK_FALSE(is_cached(fresh(39), "pca:5"));
    CHECK(is_cached(fresh(), "pca:5"));  // all of them are kept side by side
    CHECK_FALSE(is_cached(set_of({"changed files\n", "name"}), "pca:5"));
}

TEST_CASE_FIXTURE(Kept, "training set: an entry that is damaged, cut or does not fit is made anew") {
    features_now(fresh(), "pca:5");
    for (const bool cut : {true, false}) {
        damage(cut);
        CHECK_FALSE(is_cached(fresh(), "pca:5"));
        CHECK(is_cached(fresh(), "pca:5"));
    }
    const fs::path name = entries().at(0).filename();
    const std::string key = identity.key + "features pca:5 of 240 fitted 4";
    const auto bytes = read_cached(name, key, 1);
    REQUIRE(bytes.has_value());
    const std::vector<std::uint8_t> good(bytes->span().begin(), bytes->span().end());
    std::vector<std::uint8_t> wrong_size(good.begin(), good.end() - 1), wrong_head = good;
    wrong_head[0] ^= 1;
    for (const std::vector<std::uint8_t>& bad :
         {wrong_size, wrong_head, std::vector<std::uint8_t>{1, 2, 3}, {}}) {
        write_cached(name, key, std::array{std::span<const std::uint8_t>(bad)});
        CHECK_FALSE(is_cached(fresh(), "pca:5"));
        CHECK(std::ranges::equal(read_cached(name, key, 1)->span(), good));
    }
}

TEST_CASE_FIXTURE(Kept, "training set: a cache that cannot be written or used is no error") {
    surroundings.set("XDG_CACHE_HOME", "/dev/null");
    for (int i = 0; i < 2; ++i)
        CHECK_FALSE(is_cached(fresh(), "pca:5"));
    CHECK(entries().empty());
}

TEST_CASE_FIXTURE(Kept, "training set: a transform that does not suit the images is one line") {
    CHECK_THROWS_WITH_AS(features_now(fresh(41), "pca:42"),
                         "transform pca: 42 components of 41 images of 72 bytes; expected 1 to 41",
                         UsageError);
}

TEST_CASE_FIXTURE(Kept, "training set: what needs a search comes back as it was kept") {
    for (const RerankKind kind : {RerankKind::both, RerankKind::spread}) {
        method.rerank = {.kind = kind, .candidates = 20, .spread = {.neighbors = 7}};
        CHECK(there(fresh(), method) == std::vector<bool>{false, false, false});
        const LeaveOneOut sample = fill();
        REQUIRE(sample.size() == n);
        CHECK(there(fresh(), method) == std::vector<bool>{true, true, true});
        const Index fitted = classifier(set_of({})), again = classifier(fresh());
        CHECK(std::ranges::equal(again.reranking().density, fitted.reranking().density));
        CHECK(std::ranges::equal(again.reranking().spread, fitted.reranking().spread));
        CHECK(again.reranking().density.size() + again.reranking().spread.size() == n);
        CHECK(same(find_sample(fresh(), method).value(), sample));
        Index other = classifier(fresh());
        const ComparedRows compared = compared_rows(other);
        CHECK(same(leave_one_out(other, &compared, {}), sample));
        for (const SampledAnswer& one : sample)
            CHECK(fitted_confidence(other, {}).probability(one.confidence_features) ==
                  Confidence(sample).probability(one.confidence_features));
        for (const bool cut : {false, true}) {
            damage(cut);
            CHECK(there(fresh(), method) == std::vector<bool>{false, false, false});
            fill();
        }
    }
}

TEST_CASE_FIXTURE(
    Kept, "training set: descriptors are kept where they are asked for often, and made again if damaged") {
    const Descriptors right = cpu::describe(method.rerank, fresh().images(), shape, 1, nullptr);
    const auto check = [&](bool keep, std::size_t kept) {
        const TrainingSet set = fresh();
        const Descriptors made = set.descriptors(method.rerank, 2, nullptr, keep);
        CHECK(made.layout == right.layout);
        CHECK(std::ranges::equal(made.all(), right.all()));
        CHECK(set.descriptors(method.rerank, 2, nullptr, false).all().data() == made.all().data());
        CHECK(entries("descriptors-").size() == kept);
    };
    check(false, 0);
    for (int i = 0; i < 2; ++i)
        check(true, 1);
    fs::resize_file(entries("descriptors-")[0], 100);
    check(true, 1);
    check(false, 1);
}

TEST_CASE_FIXTURE(Kept, "training set: what is fitted belongs to its files, settings and number of images") {
    fill();
    const Method usual = method;
    const std::vector<bool> nothing(3), all(3, true), density{true, false, false};
    CHECK(there(fresh(), usual) == all);
    CHECK(there(fresh(n - 1), usual) == nothing);
    CHECK(there(set_of({"changed files\n", "name"}), usual) == nothing);
    CHECK(there(set_of({"", "name"}), usual) == nothing);
    struct Change {
        void (*change)(Method& method);
        const std::vector<bool>& left;
    };
    for (const auto& [change, left] :
         {Change{[](Method& m) { m.vote.k = 3; }, density},
          {[](Method& m) { m.vote.tie = Tie::nearest; }, density},
          {[](Method& m) { m.vote.votes = VoteKind::majority; }, density},
          {[](Method& m) { m.rerank.candidates = 21; }, density},
          {[](Method& m) { m.rerank.kind = RerankKind::cells; }, nothing},
          {[](Method& m) { m.measure.metric = Metric::l1; }, nothing},
          {[](Method& m) {
               m.transform = {{{TransformKind::gradients, 0}}};
           },
           nothing},
          // A re-ranking without density has nothing to fit; its answers are others.
          {[](Method& m) { m.rerank.density = false; }, density}}) {
        Method changed = usual;
        change(changed);
        CHECK(there(fresh(), changed) == left);
    }
    method.rerank = {.kind = RerankKind::spread, .candidates = 20, .spread = {.neighbors = 7}};
    fill();
    for (const LocalScaling& spread : {LocalScaling{.neighbors = 7},
                                       {.neighbors = 8},
                                       {.neighbors = 7, .of = SpreadOf::deviation},
                                       {.neighbors = 7, .by = Scaling::plus},
                                       {.neighbors = 7, .weight = 1}}) {
        Method changed = method;
        changed.rerank.spread = spread;
        CHECK(is_fitted(fresh(), changed) == (spread == LocalScaling{.neighbors = 7}));
    }
}

TEST_CASE_FIXTURE(Kept, "training set: several threads get one set of features, made once") {
    const TrainingSet set = set_of({});
    std::vector<std::future<const std::uint8_t*>> threads;
    for (int i = 0; i < 8; ++i)
        threads.push_back(std::async(std::launch::async, [&, i] {
            return features_now(set, i % 2 == 0 ? "gradients" : "pca:5").features.rows.pixels;
        }));
    std::vector<const std::uint8_t*> places;
    for (auto& thread : threads)
        places.push_back(thread.get());
    for (std::size_t i = 0; i < places.size(); ++i)
        CHECK(places[i] == places[i % 2]);
}
