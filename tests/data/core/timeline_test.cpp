#include "data/core/timeline.h"

#include <doctest/doctest.h>

using namespace knn;

TEST_CASE("timeline: stages of one name are added up, in the order in which they came") {
    Timeline timeline;
    timeline.add({"distance", 1, 2.0, 8e6, 4e6});
    timeline.add({"select", 1, 1.0});
    timeline.add({"distance", 3, 6.0, 8e6, 12e6});
    const auto& stages = timeline.stages();
    REQUIRE(stages.size() == 2);
    CHECK(stages[0].name == "distance");
    CHECK(stages[0].launches == 4);
    CHECK(stages[0].total_ms == 8.0);
    CHECK(stages[0].gb_per_s() == doctest::Approx(2.0));     // 16 MB in 8 ms
    CHECK(stages[0].gflop_per_s() == doctest::Approx(2.0));  // 16 Mflop in 8 ms
    CHECK(stages[1].gb_per_s() == 0);
    CHECK(Stage{}.gb_per_s() == 0);
    CHECK(timeline.kernels_ms() == 9.0);
}
