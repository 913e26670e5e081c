#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/support/battery.h"

namespace knn::test {

namespace {

using Answers = std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>>;

const std::vector<Case>& cases_for(Metric metric) {
    return metric == Metric::l2 ? battery() : metric_battery();
}

/// What the oracle says of each case, worked out once for all engines.
const std::vector<Answers>& answers(const Measure& measure) {
    static std::map<std::pair<Metric, double>, std::vector<Answers>> known;
    std::vector<Answers>& all = known[{measure.metric, measure.p}];
    if (all.empty())
        for (const Case& c : cases_for(measure.metric))
            all.push_back(nearest(c.train, c.query, c.k, measure));
    return all;
}

knn::Rows view(const Rows& rows) {
    return {rows.pixels.data(), rows.n, rows.dim};
}

/// The number of queries whose neighbors are not the oracle's; one CHECK per case keeps the log readable.
std::int64_t wrong_queries(const Neighbors& found, const Answers& expected) {
    std::int64_t wrong = 0;
    for (std::int64_t q = 0; q < found.n_query; ++q) {
        const auto& row = expected[static_cast<std::size_t>(q)];
        const auto got = found.row(q);
        wrong += !std::equal(got.begin(), got.end(), row.begin(), row.end(), [](const Neighbor& a, auto& b) {
            return std::int64_t{a.distance} == b.first && std::int64_t{a.index} == b.second;
        });
    }
    return wrong;
}

std::int64_t wrong_votes(const Results& result, const Answers& neighbors, const Request& request) {
    std::int64_t wrong = 0;
    for (std::size_t q = 0; q < neighbors.size(); ++q) {
        const auto& [label, confidence] =
            vote(neighbors[q], request.train_labels, request.weights, request.tie, request.measure);
        wrong += result.votes[q].label != label || result.votes[q].confidence != confidence;
    }
    return wrong;
}

void check_case(const Case& c, const Answers& expected, const Request& request,
                const std::function<Results(const Request&)>& search) {
    CAPTURE(c.name);
    CAPTURE(request.batch);
    const Results result = search(request);
    REQUIRE(result.neighbors.n_query == c.query.n);
    REQUIRE(result.neighbors.k == c.k);
    REQUIRE(result.votes.size() == static_cast<std::size_t>(c.query.n));
    CHECK(wrong_queries(result.neighbors, expected) == 0);
    CHECK(wrong_votes(result, expected, request) == 0);
}

/// Returns how many cases ran.
int check_measure(const std::string& name, const std::function<Results(const Request&)>& search,
                  const std::function<Refusal(const Request&)>& refuse, const Measure& measure) {
    std::mt19937 random(12345);
    int ran = 0, refused = 0;
    for (std::size_t i = 0; i < cases_for(measure.metric).size(); ++i) {
        const Case& c = cases_for(measure.metric)[i];
        std::vector<std::uint8_t> labels(static_cast<std::size_t>(c.train.n));
        for (std::uint8_t& label : labels)
            label = static_cast<std::uint8_t>(random() % 5 * 51);  // 0 to 204
        Request request;
        request.train = view(c.train);
        request.query = view(c.query);
        request.train_labels = labels;
        request.k = c.k;
        request.measure = measure;
        request.weights = i % 2 == 0 ? Weights::uniform : Weights::distance;
        request.tie = i / 2 % 2 == 0 ? Tie::smallest : Tie::nearest;
        if (const Refusal why = refuse ? refuse(request) : Refusal{}) {
            if (measure.metric == Metric::l2 || refused++ == 0)
                MESSAGE(name << ": not run: " << c.name << ": " << *why);
            continue;
        }
        check_case(c, answers(measure)[i], request, search);
        request.batch = 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(c.query.n));
        check_case(c, answers(measure)[i], request, search);
        ++ran;
    }
    return ran;
}

}  // namespace

const std::vector<Measure>& other_measures() {
    static const std::vector<Measure> measures = {{Metric::l1, 2},     {Metric::lp, 0.5},   {Metric::lp, 1},
                                                  {Metric::lp, 1.5},   {Metric::lp, 3},     {Metric::lp, 15},
                                                  {Metric::cosine, 2}, {Metric::pearson, 2}};
    return measures;
}

void check_engine(const std::string& name, const std::function<Results(const Request&)>& search,
                  const std::function<Refusal(const Request&)>& refuse,
                  const std::vector<Measure>& measures) {
    CAPTURE(name);
    CHECK(check_measure(name, search, refuse, Measure{}) > 0);
    for (const Measure& measure : measures) {
        CAPTURE(measure.metric);
        CAPTURE(measure.p);
        CHECK(check_measure(name, search, refuse, measure) > 0);
    }
}

}  // namespace knn::test
