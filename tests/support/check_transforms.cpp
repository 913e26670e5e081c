#include <doctest/doctest.h>

#include <algorithm>

#include "cpu/transform/transform.h"
#include "data/synthetic/synthetic.h"
#include "tests/support/battery.h"
#include "tests/support/transform_oracle.h"

namespace knn::test {

namespace {

using Answers = std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>>;

/// The first k of each row, without the image that is excluded.
Answers first_of(const Answers& all, int k, Exclude exclude) {
    Answers first;
    for (std::size_t q = 0; q < all.size(); ++q) {
        auto row = all[q];
        std::erase_if(row, [&](const auto& neighbor) {
            return neighbor.second == exclude.index_of(static_cast<std::int64_t>(q));
        });
        row.resize(static_cast<std::size_t>(k));
        first.push_back(std::move(row));
    }
    return first;
}

void check_answers(const Results& found, const Answers& expected, const Request& request) {
    std::int64_t wrong_neighbors = 0, wrong_votes = 0;
    REQUIRE(found.neighbors.k == request.k);
    REQUIRE(found.votes.size() == expected.size());
    for (std::size_t q = 0; q < expected.size(); ++q) {
        const auto row = found.neighbors.row(static_cast<std::int64_t>(q));
        wrong_neighbors += !std::equal(
            row.begin(), row.end(), expected[q].begin(), expected[q].end(), [](const Neighbor& a, auto& b) {
                return std::int64_t{a.distance} == b.first && std::int64_t{a.index} == b.second;
            });
        const auto [label, confidence] =
            vote(expected[q], request.train_labels, request.weights, request.tie, request.measure);
        wrong_votes += found.votes[q].label != label || found.votes[q].confidence != confidence;
    }
    CHECK(wrong_neighbors == 0);
    CHECK(wrong_votes == 0);
}

struct Digits {
    Dataset data = synthetic_digits({.seed = 5, .n_train = 1100, .n_test = 20});
    knn::Rows train = data.train.images(), test = data.test.images();
    knn::Rows middle{train.row(700), 20, train.dim};  ///< queries of the training set

    Request request(const std::string& transform, const Measure& measure) const {
        Request request;
        request.train = train;
        request.train_labels = data.train.labels.span();
        request.shape = data.train.shape();
        request.transform = parse_transform("--transform", transform);
        request.measure = measure;
        return request;
    }
};

}  // namespace

int check_transforms(const std::function<Results(const Request&)>& search,
                     const std::function<Refusal(const Request&)>& refuse) {
    const Digits digits;
    int searches = 0;
    for (const std::string text : {"gradients", "deskew", "hog", "blur,normalize", "deskew,pca:20"}) {
        const FittedTransform fitted =
            cpu::fit(parse_transform("--transform", text), digits.train, digits.data.train.shape());
        const Rows features = features_of(fitted, digits.train), tests = features_of(fitted, digits.test);
        const Rows middle = features_of(fitted, digits.middle);
        const bool fits_slowly = text.find("pca") != std::string::npos;
        const TrainingSet shared(digits.request(text, {}).training());
        for (const Measure& measure : {Measure{}, Measure{Metric::l1, 2}, Measure{Metric::lp, 3},
                                       Measure{Metric::cosine, 2}, Measure{Metric::pearson, 2}}) {
            Request request = digits.request(text, measure);
            const auto n = static_cast<int>(features.n);
            const Answers all = nearest(features, tests, n, measure);
            const Answers all_of_middle = nearest(features, middle, n, measure);
            for (const int k : {1, 5, 1024})
                for (const bool leaves_out : {false, true})
                    for (const bool has_features : {false, true}) {
                        request.k = k;
                        request.weights = leaves_out ? Weights::distance : Weights::uniform;
                        request.tie = has_features ? Tie::nearest : Tie::smallest;
                        request.batch = k == 5 ? 7 : 0;
                        request.query = leaves_out ? digits.middle : digits.test;
                        request.exclude = leaves_out ? Exclude{.first = 700} : Exclude{};
                        request.set = has_features || fits_slowly ? &shared : nullptr;
                        if (refuse && refuse(request)) continue;
                        CAPTURE(text);
                        CAPTURE(name(measure.metric));
                        CAPTURE(k);
                        CAPTURE(leaves_out);
                        CAPTURE(has_features);
                        check_answers(search(request),
                                      first_of(leaves_out ? all_of_middle : all, k, request.exclude),
                                      request);
                        ++searches;
                    }
        }
    }
    return searches;
}

}  // namespace knn::test
