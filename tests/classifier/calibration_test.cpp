#include "classifier/confidence.h"

#include <doctest/doctest.h>

using namespace knn;

TEST_CASE("calibration by hand: 15 intervals, means, and the expected error") {
    const std::vector<double> confidences = {0, 0.05, 0.5, 0.52, 0.99, 1};
    const std::vector<std::uint8_t> right = {0, 1, 1, 0, 1, 1};
    const Calibration found = calibration(confidences, right);
    REQUIRE(found.bins.size() == 15);
    CHECK(found.bins[0].count == 2);
    CHECK(found.bins[0].confidence == doctest::Approx(0.025));
    CHECK(found.bins[0].accuracy == 0.5);
    CHECK(found.bins[7].count == 2);  // 7/15 to 8/15
    CHECK(found.bins[7].low == doctest::Approx(7.0 / 15));
    CHECK(found.bins[7].high == doctest::Approx(8.0 / 15));
    CHECK(found.bins[7].accuracy == 0.5);
    CHECK(found.bins[14].count == 2);
    CHECK(found.bins[14].confidence == doctest::Approx(0.995));
    CHECK(found.bins[3].count == 0);
    CHECK(found.expected_calibration_error ==
          doctest::Approx((2 * (0.5 - 0.025) + 2 * (0.51 - 0.5) + 2 * (1 - 0.995)) / 6));
    CHECK(calibration({}, {}).expected_calibration_error == 0);
}

TEST_CASE("errors left when the least sure answers are rejected") {
    const std::vector<double> confidences = {0.9, 0.2, 0.5, 0.5, 0.99, 0.3};
    const std::vector<std::uint8_t> right = {1, 0, 0, 1, 0, 1};
    // In order: 0.2 wrong, 0.3 right, 0.5 right, 0.5 wrong, 0.9 right, 0.99 wrong.
    const auto curve = left_errors(confidences, right);
    REQUIRE(curve.size() == 4);
    const std::int64_t expected[4][2] = {{0, 3}, {1, 2}, {4, 1}, {6, 0}};
    for (std::size_t i = 0; i < curve.size(); ++i) {
        CHECK(curve[i].rejected == expected[i][0]);
        CHECK(curve[i].errors == expected[i][1]);
    }
    const std::vector<std::uint8_t> all_right(6, 1);
    const auto flat = left_errors(confidences, all_right);
    REQUIRE(flat.size() == 2);
    CHECK(flat[1].rejected == 6);
    CHECK(flat[1].errors == 0);
}
