#include "data/rerank/spread.h"

#include "data/core/errors.h"
#include "data/rerank/rerank.h"
#include "tests/support/test.h"

namespace knn {
namespace {

std::vector<Neighbor> at_distances(const std::vector<std::uint32_t>& distances) {
    std::vector<Neighbor> row;
    for (const std::uint32_t distance : distances)
        row.push_back({distance, 7});
    return row;
}

TEST_CASE("class spread: mean and standard deviation of the distances in a class, in sixteenths") {
    CHECK_FALSE(class_distances(SpreadOf::mean, {}));
    CHECK(class_distances(SpreadOf::mean, at_distances({5}))->size == 80);
    CHECK(class_distances(SpreadOf::deviation, at_distances({5}))->size == 0);
    const auto mean = class_distances(SpreadOf::mean, at_distances({1, 2, 5}));
    CHECK(mean->size == 16 * 2);  // 8 / 3, rounded down
    const auto deviation = class_distances(SpreadOf::deviation, at_distances({10, 30, 10, 30}));
    CHECK(deviation->mean == 16 * 20);
    CHECK(deviation->size == 16 * 10);
    // The largest distances that there are.
    const auto wide = class_distances(SpreadOf::deviation, at_distances({0, 4'294'967'294U}));
    CHECK(wide->mean == 16 * 2'147'483'647ULL);
    CHECK(wide->size == doctest::Approx(16 * 2'147'483'647.0));
}

TEST_CASE("class spread: ratios stay within 1/16 and 16, and results within 32 bits") {
    std::vector<std::optional<ClassDistances>> images(100, ClassDistances{1600, 1600});
    images.push_back(ClassDistances{0, 0});
    images.push_back(ClassDistances{1'600'000, 1'600'000});  // the mean is 17,254
    const auto up = spread_terms({.weight = 8}, images), down = spread_terms({.weight = -8}, images);
    CHECK(scaled_by_spread(Scaling::times, 16'000, up[100]) == doctest::Approx(1000).epsilon(1e-3));
    CHECK(scaled_by_spread(Scaling::times, 1000, up[101]) == 16'000);
    CHECK(scaled_by_spread(Scaling::times, 1000, down[100]) == doctest::Approx(16'000).epsilon(1e-3));
    CHECK(scaled_by_spread(Scaling::times, 16'000, down[101]) == 1000);
    CHECK(scaled_by_spread(Scaling::times, 4'294'967'294U, up[101]) == 4'294'967'294U);
    CHECK(scaled_by_spread(Scaling::plus, 5, -6) == 0);
    CHECK(scaled_by_spread(Scaling::plus, 4'294'967'290U, 100) == 4'294'967'294U);
    // All equal, or all alone: nothing changes.
    for (const std::optional<ClassDistances>& same :
         {std::optional<ClassDistances>(), std::optional(ClassDistances{0, 0})})
        for (const Scaling by : {Scaling::times, Scaling::plus})
            for (const int weight : {-8, -3, 0, 5}) {
                const std::vector<std::optional<ClassDistances>> all(3, same);
                const auto terms = spread_terms({.by = by, .weight = weight}, all);
                if (same && by == Scaling::times)
                    CHECK(terms[0] == terms[2]);
                else
                    CHECK(scaled_by_spread(by, 1234, terms[0]) == 1234);
            }
    CHECK(spread_terms({}, {}).empty());
}

TEST_CASE("class spread: its parameters are read as they are written") {
    for (const char* text :
         {"none", "both", "spread", "spread:3:mean:times:-0.5", "spread:10:deviation:plus:0.125",
          "spread:1023:mean:plus:-1", "spread:1:deviation:times:0"}) {
        RerankSpec rerank{.candidates = 33};
        read_reranker("--rerank", text, rerank);
        CHECK(reranker_text(rerank) == text);
        CHECK(rerank.candidates == 33);
    }
    RerankSpec rerank;
    read_reranker("--rerank", "spread:7", rerank);
    CHECK(rerank.spread == LocalScaling{.neighbors = 7});
    read_reranker("--rerank", "spread:7:deviation", rerank);
    CHECK(rerank.spread == LocalScaling{.neighbors = 7, .of = SpreadOf::deviation});
    read_reranker("--rerank", "none", rerank);
    CHECK(rerank == RerankSpec{});
    for (const auto& one : std::vector<std::pair<std::string, std::string>>{
             {"spred", "did you mean spread?"},
             {"both:3", "both takes no parameter; expected none, distortion"},
             {"spread:", "'' is not allowed; expected 1 to 1023"},
             {"spread:0", "expected 1 to 1023"},
             {"spread:1024", "expected 1 to 1023"},
             {"spread:3x", "'3x'"},
             {"spread:3:median", "expected mean or deviation"},
             {"spread:3:mean:minus", "expected times or plus"},
             {"spread:3:mean:plus:1.5", "expected -1 to 1"},
             {"spread:3:mean:plus:nan", "expected -1 to 1"},
             {"spread:3:mean:plus:0.3", "expected a multiple of 0.125"},
             {"spread:3:mean:plus:0.5:2", "expected at most four parameters"}}) {
        const std::string error =
            test::error_of<UsageError>([&] { read_reranker("--rerank", one.first, rerank); });
        CAPTURE(one.first);
        CHECK(error.starts_with("--rerank " + one.first + ": "));
        CHECK(test::contains(error, one.second));
    }
}

}  // namespace
}  // namespace knn
