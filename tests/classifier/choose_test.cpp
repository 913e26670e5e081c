#include "classifier/choose.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "data/core/errors.h"

using namespace knn;

namespace {

Refusal refuse_nothing(const SearchRequest&) {
    return std::nullopt;
}
Refusal refuse_angles(const SearchRequest& request) {
    const bool angle = request.metric == Metric::cosine || request.metric == Metric::pearson;
    return angle ? Refusal("the second knows no angles") : std::nullopt;
}
Refusal refuse_all_but_squares(const SearchRequest& request) {
    return refuse_all_but_l2("the first", request.problem());
}

const std::vector<Engine> table = {{"first", "", true, refuse_all_but_squares, nullptr},
                                   {"second", "", true, refuse_angles, nullptr},
                                   {"cpu", "", false, refuse_nothing, nullptr}};

SearchRequest by(Metric metric) {
    SearchRequest request;
    request.metric = metric;
    return request;
}

SearchOptions with(const std::string& engine, bool named, const std::string& device = "auto") {
    SearchOptions options;
    options.engine = engine;
    options.engine_named = named;
    options.device = device;
    return options;
}

}  // namespace

TEST_CASE("an engine that nobody named makes way for one that can") {
    const auto chosen = [](const SearchOptions& options, Metric metric) {
        return choose_on_gpu(options, 3, by(metric), table);
    };
    for (const char* engine : {"first", "auto"}) {
        CAPTURE(engine);
        const SearchOptions options = with(engine, false);
        CHECK(std::string(chosen(options, Metric::l2).engine->name) == "first");
        CHECK(chosen(options, Metric::l2).device == 3);
        CHECK(std::string(chosen(options, Metric::l1).engine->name) == "second");
        CHECK(chosen(options, Metric::l1).notice.empty());
        const Choice choice = chosen(options, Metric::cosine);
        CHECK(std::string(choice.engine->name) == "cpu");
        CHECK(choice.notice == "not on the GPU (the first computes l2 distances only): searching on the CPU");
    }
    CHECK(std::string(chosen(with("second", false), Metric::l2).engine->name) == "second");
    CHECK(std::string(chosen(with("auto", true), Metric::cosine).engine->name) == "cpu");
}

TEST_CASE("what the user named stays, and a GPU that was asked for is not left") {
    const auto request = by(Metric::cosine);
    CHECK(std::string(choose_on_gpu(with("first", true), 0, request, table).engine->name) == "first");
    SearchOptions kernel = with("first", false);
    kernel.distance = "float4";
    CHECK(std::string(choose_on_gpu(kernel, 0, request, table).engine->name) == "first");
    CHECK(std::string(choose_on_gpu(with("first", false, "gpu"), 0, by(Metric::l1), table).engine->name) ==
          "second");
    for (const char* device : {"gpu", "gpu:0"})
        CHECK_THROWS_WITH_AS(choose_on_gpu(with("first", false, device), 0, request, table),
                             "the first computes l2 distances only; expected another metric or kernel, or "
                             "--device cpu",
                             UsageError);
}
