#include "cpu/transform/transform.h"

#include "classifier/engines.h"
#include "cpu/kernels/kernels.h"
#include "tests/support/battery.h"
#include "tests/support/surroundings.h"
#include "tests/support/test.h"
#include "tests/support/transform_oracle.h"

namespace knn {

namespace {

FittedTransform fitted_on(const test::ImageSet& set, const std::string& text) {
    return cpu::fit(parse_transform("--transform", text), set.rows(), set.shape);
}

/// The first image whose features differ, as text; empty if none does.
std::string difference(const std::vector<std::uint8_t>& got, const test::Rows& expected) {
    if (got.size() != expected.pixels.size())
        return std::to_string(got.size()) + " bytes instead of " + std::to_string(expected.pixels.size());
    const auto at = std::mismatch(got.begin(), got.end(), expected.pixels.begin());
    if (at.first == got.end()) return "";
    const std::int64_t i = at.first - got.begin();
    return "image " + std::to_string(i / expected.dim) + ", feature " + std::to_string(i % expected.dim) +
           ": " + std::to_string(*at.first) + " instead of " + std::to_string(*at.second);
}

/// By the plain loops over one row, step by step.
std::vector<std::uint8_t> by_steps(const FittedTransform& fitted, const Rows& rows) {
    std::vector<std::uint8_t> all;
    TransformScratch scratch;
    for (std::int64_t i = 0; i < rows.count; ++i) {
        std::vector<std::uint8_t> row(rows.row(i), rows.row(i) + rows.dim);
        for (const FittedStep& step : fitted.steps) {
            std::vector<std::uint8_t> next(static_cast<std::size_t>(step.dim_out));
            apply_step(step, row.data(), next.data(), scratch);
            row = std::move(next);
        }
        all.insert(all.end(), row.begin(), row.end());
    }
    return all;
}

}  // namespace

TEST_CASE("cpu::transform: every transform of every kind of image, as its definition says, in every way") {
    std::size_t lists = 0;
    for (const test::ImageSet& set : test::image_sets())
        for (const std::string& text : test::transform_texts(set)) {
            CAPTURE(set.name);
            CAPTURE(text);
            const FittedTransform fitted = fitted_on(set, text);
            CHECK(fitted.dim_out() == output_dim(fitted.spec, set.shape));
            const test::Rows expected = test::features_of(fitted, set.rows());
            CHECK(difference(by_steps(fitted, set.rows()), expected) == "");
            const std::vector<std::string> all = cpu::instruction_sets();
            const auto names = test::has_sanitizer ? std::vector{all[lists++ % all.size()]} : all;
            for (const std::string& name : names) {
                const test::Isa isa(name);
                CAPTURE(name);
                CHECK(difference(cpu::features(fitted, set.rows(), 1), expected) == "");
            }
        }
}

TEST_CASE("cpu::transform: the same bytes for any number of threads and images") {
    for (const test::ImageSet& set : test::image_sets())
        for (const std::string text : {"gradients", "hog", "deskew,blur", "normalize"}) {
            if (refuse_transform(parse_transform("--transform", text), set.shape, 1)) continue;
            CAPTURE(set.name);
            CAPTURE(text);
            const FittedTransform fitted = fitted_on(set, text);
            test::Rows many = set.images;
            while (many.n < 200 && set.shape.dim() <= 784) {
                many.pixels.insert(many.pixels.end(), set.images.pixels.begin(), set.images.pixels.end());
                many.n += set.images.n;
            }
            const Rows rows{many.pixels.data(), many.n, many.dim};
            const std::vector<std::uint8_t> expected = cpu::features(fitted, rows, 1);
            for (const int threads : {2, 5, 0})
                CHECK(cpu::features(fitted, rows, threads) == expected);
            for (std::int64_t i = 0; i < many.n; i += 29) {
                const Rows one{rows.row(i), 1, rows.dim};
                const std::vector<std::uint8_t> alone = cpu::features(fitted, one);
                CHECK(std::equal(alone.begin(), alone.end(), expected.begin() + i * fitted.dim_out()));
            }
            CHECK(cpu::features(fitted, rows.first(0)).empty());
        }
}

TEST_CASE("cpu::transform: a wrong instruction set, an interruption, a transform that does not fit") {
    const test::ImageSet& set = test::image_sets().front();
    const FittedTransform fitted = fitted_on(set, "gradients");
    {
        const test::Isa isa("none");
        CHECK_THROWS_AS(cpu::features(fitted, set.rows()), UsageError);
    }
    const std::atomic<bool> stop = true;
    CHECK_THROWS_AS(cpu::features(fitted, set.rows(), 1, &stop), Interrupted);
    CHECK_THROWS_AS(fitted_on(set, "pca:2"), UsageError);
}

TEST_CASE("cpu::transform: a list of steps for a large image stops between two of them") {
    const test::Rows image = test::random_rows(1, 257 * 257, 3);
    std::string list = "blur:20";
    for (int i = 1; i < 64; ++i)
        list += ",blur:20";
    const FittedTransform fitted = cpu::fit(parse_transform("--transform", list), image, {257, 257});
    const auto seconds = [&](const std::atomic<bool>* stop) {
        const auto start = std::chrono::steady_clock::now();
        if (stop == nullptr)
            cpu::features(fitted, image, 1, stop);
        else
            CHECK_THROWS_AS(cpu::features(fitted, image, 1, stop), Interrupted);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const double whole = seconds(nullptr);
    std::atomic<bool> stop = false;
    const std::jthread later([&] {
        std::this_thread::sleep_for(std::chrono::duration<double>(whole / 8));
        stop = true;
    });
    CHECK(seconds(&stop) < whole * 3 / 4);
}

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
