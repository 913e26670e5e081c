#include "classifier/leave_one_out.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

/// 1,000 answers: novelty 1 to 1,000; margins 1 to 1,000 in another order.
LeaveOneOut sample_answers() {
    LeaveOneOut answers;
    for (int i = 1; i <= 1000; ++i) {
        SampledAnswer one;
        one.novelty = i;
        one.confidence_features.margin = (i * 7) % 1000 + 1;
        answers.push_back(one);
    }
    return answers;
}

/// The share of the sample that is as unusual, by the definition, for each of the sample again.
double share_by_definition(const LeaveOneOut& answers, double margin, double unlike) {
    const auto log_share = [&](const auto& as_unusual) {
        int count = 0;
        for (const SampledAnswer& one : answers)
            count += as_unusual(one) ? 1 : 0;
        return std::log((count + 0.5) / 1001);
    };
    const auto unusual = [&](double m, double u) {
        return std::pow(
                   log_share([&](const SampledAnswer& one) { return one.confidence_features.margin <= m; }),
                   2) +
               std::pow(log_share([&](const SampledAnswer& one) { return one.novelty >= u; }), 2);
    };
    const double limit = unusual(margin, unlike);
    int count = 0;
    for (const SampledAnswer& one : answers)
        count += unusual(one.confidence_features.margin, one.novelty) >= limit ? 1 : 0;
    return count / 1000.0;
}

ConfidenceFeatures with_margin(double margin) {
    ConfidenceFeatures confidence_features;
    confidence_features.margin = margin;
    return confidence_features;
}

}  // namespace

TEST_CASE("nothing is rejected without a sample") {
    const Rejection rejection(LeaveOneOut{});
    CHECK(rejection.p_value(with_margin(-9), 1e9) == 1);
    CHECK(rejection.reason(with_margin(-9), 1e9, 0.5).empty());
}

TEST_CASE("how usual a digit is, by the definition") {
    const LeaveOneOut answers = sample_answers();
    const Rejection rejection(answers);
    for (const double margin : {-5.0, 1.0, 3.5, 500.0, 2000.0})
        for (const double unlike : {-5.0, 2.0, 700.5, 998.0, 1000.0, 1e9})
            REQUIRE(rejection.p_value(with_margin(margin), unlike) ==
                    doctest::Approx(share_by_definition(answers, margin, unlike)));
    for (double unlike = 0.5; unlike < 1000; unlike += 24.5)  // a margin below all: its share is not 0
        REQUIRE(rejection.p_value(with_margin(-5), unlike) ==
                doctest::Approx(share_by_definition(answers, -5, unlike)));
    CHECK(rejection.p_value(with_margin(-5), 1e9) == 0);
    CHECK(rejection.p_value(with_margin(2000), -5) == 1);
}

TEST_CASE("as many of the sample are rejected as may be lost") {
    const LeaveOneOut answers = sample_answers();
    const Rejection rejection(answers);
    for (const double loss : {0.0, 0.001, 0.01, 0.1}) {
        int rejected = 0;
        for (const SampledAnswer& one : answers)
            rejected += rejection.reason(one.confidence_features, one.novelty, loss).empty() ? 0 : 1;
        CHECK(rejected <= 1000 * loss);
        CHECK(rejected >= 1000 * loss - 1);
    }
    const SampledAnswer& one = answers[300];
    CHECK(rejection
              .reason(one.confidence_features, one.novelty,
                      rejection.p_value(one.confidence_features, one.novelty))
              .empty());
}

TEST_CASE("the reason says what is unusual") {
    const Rejection rejection(sample_answers());
    CHECK(rejection.reason(with_margin(900), 2000, 0.01)
              .starts_with("unlike the training images: under 0.1 %"));
    CHECK(rejection.reason(with_margin(0), 100, 0.01).starts_with("near more than one class: under 0.1 %"));
    CHECK(rejection.reason(with_margin(900), 100, 0.01).empty());
}
