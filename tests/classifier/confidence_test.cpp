#include "classifier/confidence.h"

#include "classifier/vote.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

const std::vector<std::uint8_t> class_labels = {3, 3, 3, 8, 8, 5};

/// Answers that are right the more often the larger share and margin, and the smaller the distance is.
LeaveOneOut sample_answers(int count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto uniform = [&] { return double(random() >> 11) / double(1ull << 53); };
    LeaveOneOut answers;
    for (int i = 0; i < count; ++i) {
        SampledAnswer one;
        one.confidence_features = {.share = uniform(),
                                   .distance = 10 + 3 * uniform(),
                                   .margin = 2 * uniform() - 0.5,
                                   .alone = uniform() < 0.3 ? 1.0 : 0.0};
        const double z = 4 * one.confidence_features.share + 2 * one.confidence_features.margin -
                         (one.confidence_features.distance - 10);
        one.right = uniform() < 1 / (1 + std::exp(-z)) ? 1 : 0;
        answers.push_back(one);
    }
    return answers;
}

/// The fit as confidence.h defines it, by climbing the gradient with many small steps.
class Climbed {
  public:
    explicit Climbed(const LeaveOneOut& answers) {
        const auto n = double(answers.size());
        for (const SampledAnswer& one : answers)
            for (std::size_t f = 0; f < 5; ++f)
                mean[f] += raw(one.confidence_features)[f] / n;
        for (const SampledAnswer& one : answers)
            for (std::size_t f = 0; f < 5; ++f)
                variance[f] += std::pow(raw(one.confidence_features)[f] - mean[f], 2) / n;
        std::vector<Row> rows;
        for (const SampledAnswer& one : answers)
            rows.push_back(scaled(one.confidence_features));
        for (int step = 0; step < 20'000; ++step) {
            double slope[6] = {0.5 - 1 / (1 + std::exp(-w[0]))};
            for (std::size_t f = 0; f < 5; ++f)
                slope[f + 1] = -w[f + 1];
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const double pull = answers[i].right - probability(rows[i]);
                slope[0] += pull;
                for (std::size_t f = 0; f < 5; ++f)
                    slope[f + 1] += pull * rows[i][f];
            }
            for (std::size_t i = 0; i < 6; ++i)
                w[i] += 4 * slope[i] / n;
        }
    }
    double probability(const ConfidenceFeatures& e) const { return probability(scaled(e)); }

  private:
    using Row = std::array<double, 5>;

    static Row raw(const ConfidenceFeatures& e) {
        return {e.share, e.distance, e.alone > 0 ? 0 : e.margin, e.alone > 0 ? e.margin : 0, e.alone};
    }
    Row scaled(const ConfidenceFeatures& e) const {
        Row row = raw(e);
        for (std::size_t f = 0; f < 5; ++f)
            row[f] = (row[f] - mean[f]) / std::sqrt(variance[f]);
        return row;
    }
    double probability(const Row& row) const {
        double z = w[0];
        for (std::size_t f = 0; f < 5; ++f)
            z += w[f + 1] * row[f];
        return 1 / (1 + std::exp(-z));
    }

    double w[6] = {};
    Row mean = {}, variance = {};
};

}  // namespace

TEST_CASE(
    "evidence of one query: the winner's nearest, and the nearest of another class or beyond the last") {
    const VotingRule means{.k = 2, .votes = VoteKind::class_mean};
    struct Row {
        std::vector<Neighbor> neighbors;
        VotingRule rule;
        double share, distance, margin;  ///< these two: the numbers of which they are logarithms
        double alone;
    };
    for (const Row& row : {
             // The winner is not the nearest.
             Row{{{100, 3}, {200, 0}, {300, 1}, {400, 5}}, {.k = 4}, 0.5, 250, 100.0 / 200, 0},
             // All agree: another class is at least as far as the last. Distance 0 counts as 1.
             {{{0, 0}, {50, 1}, {80, 2}}, {.k = 3}, 1, 131.0 / 3, 80, 1},
             // Classes that lack neighbors get the last distance: 5 has (40 + 90) / 2.
             {{{10, 0}, {20, 3}, {30, 1}, {40, 5}, {60, 4}, {90, 2}},
              means,
              0.7,
              15,
              (20.0 + 60) / (10 + 30),
              0},
             // The mean of another class is at least the last distance.
             {{{10, 0}, {30, 1}, {60, 2}}, means, 1, 0, 2.0 * 60 / (10 + 30), 1},
         }) {
        const ConfidenceFeatures found =
            confidence_features(row.neighbors, class_labels, {3, row.share}, row.rule, {});
        CHECK(found.share == row.share);
        if (row.distance > 0) CHECK(found.distance == doctest::Approx(std::log(row.distance)));
        CHECK(found.margin == doctest::Approx(std::log(row.margin)));
        CHECK(found.alone == row.alone);
    }
    // A real row that is equal, and another class far away: a ratio that no double holds.
    const Measure real{.metric = Metric::l2, .real = true};
    for (const std::uint8_t winner : std::array<std::uint8_t, 2>{3, 8}) {
        const std::vector<Neighbor> neighbors{{score_of_real(0), 0}, {score_of_real(1e10), 3}};
        const auto found = confidence_features(neighbors, class_labels, {winner, 0.5}, {.k = 2}, real);
        CHECK(found.margin == doctest::Approx(std::log(winner == 3 ? 1e40 : 1e-40)));
    }
}

TEST_CASE("confidence without a sample is the share of the votes") {
    const Confidence confidence(LeaveOneOut{});
    CHECK(!confidence.fitted());
    CHECK(confidence.probability({.share = 0.6}) == 0.6);
}

TEST_CASE("confidence is the fit that climbing the gradient finds") {
    LeaveOneOut answers = sample_answers(300, 1);
    for (const bool repeated : {false, true}) {
        if (repeated)  // the same confidence features, of which some answers are right and some wrong
            for (std::size_t i = 0; i < 600; ++i) {
                answers.push_back(answers[i % 300]);
                answers.back().right = i % 3 == 0;
            }
        const Confidence confidence(answers);
        const Climbed oracle(answers);
        CHECK(confidence.fitted());
        for (const SampledAnswer& one : sample_answers(200, 2))
            REQUIRE(confidence.probability(one.confidence_features) ==
                    doctest::Approx(oracle.probability(one.confidence_features)).epsilon(2e-4));
    }
}

TEST_CASE("a nearer match or a larger share makes no answer less probable, whatever the sample says") {
    LeaveOneOut answers = sample_answers(2000, 3);
    for (SampledAnswer& one : answers) {  // the more of it, the more often wrong
        const ConfidenceFeatures& features = one.confidence_features;
        const double most = features.share + features.margin - (features.distance - 10) / 3;
        if (most > 1) one.right = 0;
    }
    const Confidence confidence(answers);
    for (const double alone : {0.0, 1.0}) {
        const ConfidenceFeatures usual{.share = 0.5, .distance = 11, .margin = 0.5, .alone = alone};
        for (auto [share, distance, margin] :
             {std::array{1.0, 11.0, 0.5}, {0.5, 0.0, 0.5}, {0.5, 11.0, 90.0}, {1.0, 0.0, 90.0}}) {
            const ConfidenceFeatures nearer{
                .share = share, .distance = distance, .margin = margin, .alone = alone};
            CHECK(confidence.probability(nearer) >= confidence.probability(usual));
        }
    }
    CHECK(confidence.weights().weights[1] >= 0);
    CHECK(confidence.weights().weights[2] <= 0);
}

TEST_CASE("mean confidence on the sample is its accuracy") {
    const LeaveOneOut answers = sample_answers(5000, 3);
    const Confidence confidence(answers);
    double sum = 0, right = 0;
    for (const SampledAnswer& one : answers)
        sum += confidence.probability(one.confidence_features), right += one.right;
    CHECK(sum / 5000 == doctest::Approx(right / 5000).epsilon(1e-3));
}

TEST_CASE("confidences are finite where all answers are right, all are wrong, or all are alike") {
    for (const unsigned right : {0U, 1U}) {
        LeaveOneOut answers = sample_answers(400, 4);
        for (SampledAnswer& one : answers)
            one.right = right;
        const Confidence confidence(answers);
        for (const SampledAnswer& one : answers) {
            const double p = confidence.probability(one.confidence_features);
            REQUIRE(p >= 1e-6);
            REQUIRE(p <= 1 - 1e-6);
            REQUIRE(std::abs(p - right) < 0.05);
        }
    }
    LeaveOneOut alike(400);
    for (std::size_t i = 0; i < alike.size(); ++i)
        alike[i].right = i % 4 != 0;
    CHECK(Confidence(alike).probability(alike[0].confidence_features) == doctest::Approx(0.75).epsilon(2e-3));
    CHECK(Confidence(alike).probability({.share = 1, .distance = 9}) ==
          doctest::Approx(0.75).epsilon(2e-3));  // what never varied says nothing
}

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
    CHECK(found.expected_calibration_error == 0.163333333);  // as a report has it
    CHECK(calibration({}, {}).expected_calibration_error == 0);
}
