#include "cpu/transform/transform.h"
#include "data/synthetic/synthetic.h"
#include "tests/support/battery.h"
#include "tests/support/test.h"
#include "tests/support/transform_oracle.h"

namespace knn::test {

namespace {

const std::vector<Case>& cases_for(Metric metric) {
    return metric == Metric::l2 ? battery() : metric_battery();
}

/// What the oracle says of each case, worked out once for all engines.
const std::vector<Neighbors>& answers(const Measure& measure) {
    static std::map<std::pair<Metric, double>, std::vector<Neighbors>> known;
    std::vector<Neighbors>& all = known[{measure.metric, measure.p}];
    if (all.empty())
        for (const Case& c : cases_for(measure.metric))
            all.push_back(nearest(c.train, c.query, c.k, measure));
    return all;
}

/// CHECKs neighbors and votes, bit for bit; one CHECK of each per search keeps the log readable.
void check_answers(const Results& found, const Neighbors& expected, const Request& request) {
    REQUIRE(found.neighbors.n_query == request.query.count);
    REQUIRE(found.neighbors.k == request.k);
    CHECK(found.neighbors.rows == expected.rows);
    CHECK(wrong_votes(expected, found.votes, request) == 0);
}

/// Returns how many cases ran.
int check_measure(const std::string& name, const std::function<Results(const Request&)>& search,
                  const std::function<UnsupportedReason(const Request&)>& refuse, const Measure& measure) {
    std::mt19937 random(12345);
    int ran = 0, refused = 0;
    for (std::size_t i = 0; i < cases_for(measure.metric).size(); ++i) {
        const Case& c = cases_for(measure.metric)[i];
        std::vector<std::uint8_t> labels(static_cast<std::size_t>(c.train.n));
        for (std::uint8_t& label : labels)
            label = static_cast<std::uint8_t>(random() % 5 * 51);  // 0 to 204
        Request request;
        request.train = c.train;
        request.query = c.query;
        request.train_labels = labels;
        request.k = c.k;
        request.measure = measure;
        request.weights = i % 2 == 0 ? Weights::uniform : Weights::distance;
        request.tie = i / 2 % 2 == 0 ? Tie::smallest : Tie::nearest;
        if (const UnsupportedReason why = refuse ? refuse(request) : UnsupportedReason{}) {
            if (measure.metric == Metric::l2 || refused++ == 0)
                MESSAGE(name << ": not run: " << c.name << ", " << request << ": " << *why);
            continue;
        }
        for (const std::int64_t batch :
             {std::int64_t{0}, 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(c.query.n))}) {
            request.batch = batch;
            CAPTURE(c.name);
            CAPTURE(request);
            check_answers(search(request), answers(measure)[i], request);
        }
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
                  const std::function<UnsupportedReason(const Request&)>& refuse,
                  const std::vector<Measure>& measures) {
    CAPTURE(name);
    CHECK(check_measure(name, search, refuse, Measure{}) > 0);
    for (const Measure& measure : measures) {
        CHECK(check_measure(name, search, refuse, measure) > 0);
    }
}

int check_transforms(const std::function<Results(const Request&)>& search) {
    const Dataset digits = synthetic_digits({.seed = 5, .n_train = 1100, .n_test = 20});
    const knn::Rows train = digits.train.images(), test = digits.test.images();
    const knn::Rows middle{train.row(700), 20, train.dim};  // queries of the training set
    Request request;
    request.train = train;
    request.train_labels = digits.train.labels.span();
    request.shape = digits.train.shape();
    int searches = 0;
    std::size_t lists = 0;
    for (const std::string text : {"gradients", "deskew", "hog", "blur,normalize", "deskew,pca:20"}) {
        request.transform = parse_transform("--transform", text);
        const FittedTransform fitted = cpu::fit(request.transform, train, request.shape);
        const Rows features = features_of(fitted, train), tests = features_of(fitted, test);
        const Rows middle_features = features_of(fitted, middle);
        const bool fits_slowly = text.find("pca") != std::string::npos;
        const TrainingSet shared(request.training());
        const std::vector<Measure> all{
            {}, {Metric::l1, 2}, {Metric::lp, 3}, {Metric::cosine, 2}, {Metric::pearson, 2}};
        const auto measures = has_sanitizer ? std::vector{all[lists++ % all.size()]} : all;
        for (const Measure& measure : measures) {
            request.measure = measure;
            const auto n = static_cast<int>(features.n);
            const Neighbors answers = nearest(features, tests, n, measure);
            const Neighbors all_of_middle = nearest(features, middle_features, n, measure);
            for (const int k : {1, 5, 1024})
                for (const bool leaves_out : {false, true})
                    for (const bool has_features : {false, true}) {
                        request.k = k;
                        request.weights = leaves_out ? Weights::distance : Weights::uniform;
                        request.tie = has_features ? Tie::nearest : Tie::smallest;
                        request.batch = k == 5 ? 7 : 0;
                        request.query = leaves_out ? middle : test;
                        request.exclude = leaves_out ? Exclude{.first = 700} : Exclude{};
                        request.set = has_features || fits_slowly ? &shared : nullptr;
                        CAPTURE(text);
                        CAPTURE(has_features);
                        CAPTURE(request);
                        check_answers(search(request),
                                      first_others(leaves_out ? all_of_middle : answers, k, request.exclude),
                                      request);
                        ++searches;
                    }
        }
    }
    return searches;
}

}  // namespace knn::test
