#include "classifier/engines.h"
#include "tests/support/battery.h"
#include "tests/support/test.h"
#include "tests/support/transform_oracle.h"

namespace knn {

TEST_CASE("cpu: searches with a transform are those among the oracle's features, serial ones too") {
    int serial_searches = 0;
    const int searches = test::check_transforms([&](test::Request request) {
        request.threads = request.k == 5 ? 3 : 1;
        Results found = test::search_on_cpu(request);
        request.select = "nth_element";
        if (!test::refuse(*find_engine("cpu"), request)) {
            ++serial_searches;
            const Results serial = test::search_on_cpu(request);
            CHECK(serial.neighbors.rows == found.neighbors.rows);
            CHECK(serial.votes == found.votes);
        }
        return found;
    });
    CHECK(searches == (test::has_sanitizer ? 60 : 300));
    CHECK(serial_searches > 0);
}

TEST_CASE("cpu: a search with a transform says what it costs, and transforms the training set once") {
    const test::ImageSet& set = test::image_sets().back();
    const std::vector<std::uint8_t> labels(static_cast<std::size_t>(set.images.n)), copy = set.images.pixels;
    test::Request request;
    request.train = request.query = set.rows();
    request.train_labels = labels;
    request.shape = set.shape;
    request.exclude = {.first = 0};
    const auto stage = [&](const std::string& name) {
        const Results found = test::search_on_cpu(request);
        const auto& stages = found.timeline.stages();
        const auto at =
            std::find_if(stages.begin(), stages.end(), [&](const Stage& one) { return one.name == name; });
        REQUIRE(at != stages.end());
        return *at;
    };
    request.transform = parse_transform("--transform", "gradients");
    CHECK(stage("transform").launches == 1);
    request.query.pixels = copy.data();
    request.exclude = {};
    CHECK(stage("transform").launches == 2);
    request.transform = parse_transform("--transform", "pca:20");
    request.query = set.rows().first(10);
    CHECK(stage("fit").kind == StageKind::host);
    CHECK(stage("transform").launches == 2);
    CHECK(stage("transform").bytes == doctest::Approx((150 + 10) * (784 + 20)));
}

}  // namespace knn
