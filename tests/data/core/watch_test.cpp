#include "data/core/progress_token.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace knn {
namespace {

TEST_CASE("watch: a part reports behind what was done, also in a part of it, quiet reports nothing") {
    std::vector<std::pair<std::int64_t, std::int64_t>> reports;
    std::atomic<bool> stop = false;
    ProgressToken token;
    token.progress = [&](std::int64_t done, std::int64_t all) { reports.emplace_back(done, all); };
    token.stop = &stop;
    const ProgressToken part = token.part(40, 100), inner = part.part(5, 30);
    part.step(7, 30);
    inner.step(2, 10);
    token.quiet().step(1, 2);
    ProgressToken().part(1, 2).step(1, 1);
    CHECK(reports == std::vector<std::pair<std::int64_t, std::int64_t>>{{47, 100}, {47, 100}});
    stop = true;
    for (const ProgressToken& one : {token, part, inner, token.quiet()})
        CHECK_THROWS_AS(one.step(0, 1), Interrupted);
    CHECK_FALSE(ProgressToken().part(1, 2).stopped());
}

}  // namespace
}  // namespace knn
