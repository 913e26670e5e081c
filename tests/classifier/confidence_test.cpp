#include "classifier/confidence.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace knn;

namespace {

/// Answers that are right the more often the larger share and margin are.
LeaveOneOut sample_answers(int count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto uniform = [&] { return double(random() >> 11) / double(1ull << 53); };
    LeaveOneOut answers;
    for (int i = 0; i < count; ++i) {
        SampledAnswer one;
        one.evidence = {.share = uniform(),
                        .distance = 10 + 3 * uniform(),
                        .margin = 2 * uniform() - 0.5,
                        .alone = uniform() < 0.3 ? 1.0 : 0.0};
        const double z = 4 * one.evidence.share + 2 * one.evidence.margin - 2;
        one.right = uniform() < 1 / (1 + std::exp(-z)) ? 1 : 0;
        answers.push_back(one);
    }
    return answers;
}

/// The fit as confidence.h defines it, by climbing the gradient with many small steps.
class Climbed {
  public:
    explicit Climbed(const LeaveOneOut& answers) {
        std::vector<std::vector<double>> rows;
        for (const SampledAnswer& one : answers)
            rows.push_back(raw(one.evidence));
        for (std::size_t f = 0; f < 5; ++f) {
            double sum = 0, squares = 0;
            for (const auto& row : rows)
                sum += row[f];
            mean[f] = sum / double(rows.size());
            for (const auto& row : rows)
                squares += std::pow(row[f] - mean[f], 2);
            deviation[f] = std::sqrt(squares / double(rows.size()));
        }
        for (int step = 0; step < 20'000; ++step) {
            double slope[6] = {0.5 - 1 / (1 + std::exp(-w[0]))};
            for (std::size_t f = 0; f < 5; ++f)
                slope[f + 1] = -w[f + 1];
            for (const SampledAnswer& one : answers) {
                const double pull = one.right - probability(one.evidence);
                slope[0] += pull;
                for (std::size_t f = 0; f < 5; ++f)
                    slope[f + 1] += pull * scaled(one.evidence, f);
            }
            for (std::size_t i = 0; i < 6; ++i)
                w[i] += 4 * slope[i] / double(answers.size());
        }
    }
    double probability(const Evidence& e) const {
        double z = w[0];
        for (std::size_t f = 0; f < 5; ++f)
            z += w[f + 1] * scaled(e, f);
        return 1 / (1 + std::exp(-z));
    }

  private:
    static std::vector<double> raw(const Evidence& e) {
        return {e.share, e.distance, e.alone > 0 ? 0 : e.margin, e.alone > 0 ? e.margin : 0, e.alone};
    }
    double scaled(const Evidence& e, std::size_t f) const { return (raw(e)[f] - mean[f]) / deviation[f]; }

    double w[6] = {}, mean[5] = {}, deviation[5] = {};
};

}  // namespace

TEST_CASE("confidence without a sample is the share of the votes") {
    const Confidence confidence(LeaveOneOut{});
    CHECK(!confidence.fitted());
    CHECK(confidence.probability({.share = 0.6}) == 0.6);
}

TEST_CASE("confidence is the fit that climbing the gradient finds") {
    LeaveOneOut answers = sample_answers(300, 1);
    for (const bool repeated : {false, true}) {
        if (repeated)  // the same evidence, of which some answers are right and some wrong
            for (std::size_t i = 0; i < 600; ++i) {
                answers.push_back(answers[i % 300]);
                answers.back().right = i % 3 == 0;
            }
        const Confidence confidence(answers);
        const Climbed oracle(answers);
        CHECK(confidence.fitted());
        for (const SampledAnswer& one : sample_answers(200, 2))
            REQUIRE(confidence.probability(one.evidence) ==
                    doctest::Approx(oracle.probability(one.evidence)).epsilon(2e-4));
    }
}

TEST_CASE("mean confidence on the sample is its accuracy") {
    const LeaveOneOut answers = sample_answers(5000, 3);
    const Confidence confidence(answers);
    double sum = 0, right = 0;
    for (const SampledAnswer& one : answers)
        sum += confidence.probability(one.evidence), right += one.right;
    CHECK(sum / 5000 == doctest::Approx(right / 5000).epsilon(1e-3));
}

TEST_CASE("confidences are finite where all answers are right, all are wrong, or all are alike") {
    for (const unsigned right : {0U, 1U}) {
        LeaveOneOut answers = sample_answers(400, 4);
        for (SampledAnswer& one : answers)
            one.right = right;
        const Confidence confidence(answers);
        for (const SampledAnswer& one : answers) {
            const double p = confidence.probability(one.evidence);
            REQUIRE(p >= 1e-6);
            REQUIRE(p <= 1 - 1e-6);
            REQUIRE(std::abs(p - right) < 0.05);
        }
    }
    LeaveOneOut alike(400);
    for (std::size_t i = 0; i < alike.size(); ++i)
        alike[i].right = i % 4 != 0;
    CHECK(Confidence(alike).probability(alike[0].evidence) == doctest::Approx(0.75).epsilon(2e-3));
    CHECK(Confidence(alike).probability({.share = 1, .distance = 9}) ==
          doctest::Approx(0.75).epsilon(2e-3));  // what never varied says nothing
}
