#include "tests/support/battery.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "cpu/vote.h"

namespace knn::test {

namespace {

Rows filled(std::int64_t n, std::int64_t dim, std::uint8_t value) {
    return {std::vector<std::uint8_t>(static_cast<std::size_t>(n * dim), value), n, dim};
}

/// Image i holds i units of brightness, poured pixel by pixel: each is farther from black than the one
/// before. At most dim · 255 + 1 images.
Rows thermometer(std::int64_t n, std::int64_t dim) {
    Rows rows = filled(n, dim, 0);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t p = 0; p < dim; ++p)
            rows.pixels[static_cast<std::size_t>(i * dim + p)] =
                static_cast<std::uint8_t>(std::clamp<std::int64_t>(i - p * 255, 0, 255));
    return rows;
}

/// All images of `of`, again and again, `times` times: copies of one image lie of.n apart.
Rows repeated(const Rows& of, std::int64_t times) {
    Rows rows{{}, of.n * times, of.dim};
    for (std::int64_t t = 0; t < times; ++t)
        rows.pixels.insert(rows.pixels.end(), of.pixels.begin(), of.pixels.end());
    return rows;
}

/// Every `step`-th image.
Rows every(std::int64_t step, const Rows& of) {
    Rows rows{{}, 0, of.dim};
    for (std::int64_t i = 0; i < of.n; i += step, ++rows.n)
        rows.pixels.insert(rows.pixels.end(), of.pixels.begin() + i * of.dim,
                           of.pixels.begin() + (i + 1) * of.dim);
    return rows;
}

Rows reversed(const Rows& of) {
    Rows rows{{}, of.n, of.dim};
    for (std::int64_t i = of.n - 1; i >= 0; --i)
        rows.pixels.insert(rows.pixels.end(), of.pixels.begin() + i * of.dim,
                           of.pixels.begin() + (i + 1) * of.dim);
    return rows;
}

/// Rows that alternate between all 0 and all 255: the largest distance that `dim` allows, and 0.
Rows extremes(std::int64_t n, std::int64_t dim) {
    Rows rows = filled(n, dim, 0);
    for (std::int64_t i = 0; i < n; i += 2)
        std::fill_n(rows.pixels.begin() + i * dim, dim, std::uint8_t{255});
    return rows;
}

/// Collects cases; every random one gets a seed of its own.
class Builder {
  public:
    std::vector<Case> cases;

    void random(const std::string& why, std::int64_t n_train, std::int64_t n_query, std::int64_t dim, int k,
                int levels) {
        seed_ += 2;
        add(why, random_rows(n_train, dim, seed_, levels), random_rows(n_query, dim, seed_ + 1, levels), k);
    }
    void add(const std::string& why, Rows train, Rows query, int k) {
        std::string name = why + ": n_train " + std::to_string(train.n) + ", n_query " +
                           std::to_string(query.n) + ", dim " + std::to_string(train.dim) + ", k " +
                           std::to_string(k);
        cases.push_back({std::move(name), std::move(train), std::move(query), k});
    }

  private:
    std::uint64_t seed_ = 0;
};

void add_sizes(Builder& to) {
    for (const int n :
         {1,   2,   3,   15,  16,  17,  31,  32,   33,   47,   48,   49,   63,   64,   65,   100,  127,
          128, 129, 255, 256, 257, 511, 513, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 3000, 4096, 5000})
        to.random("size", n, 3, 17, std::min(n, 5), 4);
    to.random("more than 65,536", 70'001, 2, 4, 10, 256);
    to.random("more than 65,536, many ties", 65'537, 2, 3, 40, 3);
    for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 63, 64, 65, 200, 257})
        to.random("queries", 150, n, 20, 3, 256);
    for (const int dim : {1,   2,   3,   4,   5,   15,  16,  17,   31,   32,   33,   63,   64,   65,
                          127, 128, 129, 255, 783, 784, 785, 1023, 1024, 1025, 1032, 1033, 2049, 5000})
        to.random("dim", 130, 5, dim, 7, 256);
    to.random("like MNIST", 1500, 70, 784, 5, 256);
}

void add_ks(Builder& to) {
    for (const int k : {1, 2, 5, 10, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 257, 500, 1023, 1024}) {
        to.random("n_train = k", k, 2, 6, k, 256);
        to.random("n_train = k + 1", k + 1, 2, 6, k, 6);
        to.random("n_train = 3 k", 3 * k, 3, 9, k, 256);
    }
    to.random("k of many", 20'000, 3, 12, 1024, 16);
    to.random("k of many", 20'000, 3, 12, 32, 16);
}

void add_orders(Builder& to) {
    const Rows rising = thermometer(4'000, 16), falling = reversed(rising);
    for (const int k : {1, 5, 33, 200, 1024}) {
        to.add("sorted, nearest first", rising, filled(2, 16, 0), k);
        to.add("sorted, nearest last", falling, filled(2, 16, 0), k);
        to.add("sorted, query in the middle", rising, every(450, rising), k);
        to.add("all equal", filled(1'500, 20, 77), filled(3, 20, 78), k);
        to.add("all equal to the query", filled(1'500, 20, 77), filled(3, 20, 77), k);
        to.add("duplicates", repeated(random_rows(60, 25, 901), 20), random_rows(5, 25, 902), k);
    }
    const Rows images = random_rows(300, 784, 903);
    to.add("queries are training images", repeated(images, 2), images, 3);
}

void add_largest_sums(Builder& to) {
    for (const std::int64_t dim : {784, 1024, 1032, 1033, 2048}) {
        to.add("largest sums", extremes(67, dim), extremes(5, dim), 40);
        to.add("largest sums", filled(35, dim, 255), filled(2, dim, 0), 3);
        to.random("only 0 and 255", 70, 5, dim, 9, 2);
    }
    to.add("largest distance in 32 bits", extremes(9, max_dim), extremes(2, max_dim), 9);
    to.add("largest product in 32 bits", filled(9, max_dim, 255), filled(2, max_dim, 255), 9);
    to.add("largest distance in 32 bits", filled(3, max_dim, 255), filled(2, max_dim, 0), 2);
    to.random("largest dim", 9, 3, max_dim, 5, 256);
}

/// Images of a ninth of the levels each, times 1, 2 and 3: at distance 0 or nearly so by cosine.
Rows multiples(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    Rows rows = random_rows(n, dim, seed);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t p = 0; p < dim; ++p) {
            const int first = rows.pixels[static_cast<std::size_t>(i % 3 == 0 ? i * dim + p : p)] / 9;
            rows.pixels[static_cast<std::size_t>(i * dim + p)] =
                static_cast<std::uint8_t>(i % 3 == 0 ? first : first * (i % 3 + 1));
        }
    return rows;
}

/// Image 2i + 1 is the negative of image 2i.
Rows negatives(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    Rows rows = random_rows(n, dim, seed);
    for (std::int64_t i = 1; i < n; i += 2)
        for (std::int64_t p = 0; p < dim; ++p)
            rows.pixels[static_cast<std::size_t>(i * dim + p)] =
                static_cast<std::uint8_t>(255 - rows.pixels[static_cast<std::size_t>((i - 1) * dim + p)]);
    return rows;
}

/// Every third image random, the others of one gray each, many of them black.
Rows grays(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    Rows rows = random_rows(n, dim, seed);
    for (std::int64_t i = 0; i < n; ++i)
        if (i % 3 != 0)
            std::fill_n(rows.pixels.begin() + i * dim, dim,
                        static_cast<std::uint8_t>(i % 3 == 1 ? 0 : i * 37 % 256));
    return rows;
}

/// 254 and 255: the means taken off, next to nothing is left.
Rows nearly_white(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    Rows rows = random_rows(n, dim, seed, 2);
    for (std::uint8_t& pixel : rows.pixels)
        pixel = pixel == 0 ? 254 : 255;
    return rows;
}

/// Black but for one pixel in `one_in`, as digits are; the more so, the later the image.
Rows sparse(std::int64_t n, std::int64_t dim, std::uint64_t seed, std::int64_t one_in) {
    Rows rows = random_rows(n, dim, seed);
    std::mt19937_64 random(seed + 1);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t p = 0; p < dim; ++p)
            if (random() % static_cast<std::uint64_t>(one_in + i * 8 / n) != 0)
                rows.pixels[static_cast<std::size_t>(i * dim + p)] = 0;
    return rows;
}

void add_random_sizes(Builder& to) {
    struct Size {
        std::int64_t n_train, n_query, dim;
        int k, levels;
    };
    for (const Size& size : {Size{1, 1, 1, 1, 256},
                             {2, 3, 3, 2, 4},
                             {33, 5, 4, 7, 256},
                             {47, 2, 17, 5, 3},
                             {49, 17, 16, 5, 256},
                             {257, 3, 63, 33, 5},
                             {65, 4, 127, 65, 256},
                             {130, 5, 255, 7, 256},
                             {300, 9, 784, 5, 256},
                             {130, 5, 784, 9, 2},
                             {70, 5, 1024, 9, 2},
                             {90, 4, 1025, 7, 256},
                             {40, 3, 5000, 5, 256},
                             {1025, 3, 6, 1024, 16},
                             {3000, 3, 12, 32, 16},
                             {9, 3, max_dim, 5, 256},
                             {9, 2, max_dim, 9, 2}})
        to.random("size", size.n_train, size.n_query, size.dim, size.k, size.levels);
}

void add_special_images(Builder& to) {
    const Rows rising = thermometer(1'000, 16), images = random_rows(60, 784, 911);
    to.add("sorted", rising, every(300, rising), 5);
    to.add("sorted, last first", reversed(rising), every(300, rising), 33);
    for (const int gray : {0, 77})
        for (const int query : {0, 77, 255})
            to.add("all equal", filled(200, 20, static_cast<std::uint8_t>(gray)),
                   filled(2, 20, static_cast<std::uint8_t>(query)), 40);
    to.add("queries are training images", repeated(images, 3), images, 5);
    to.add("largest sums", extremes(67, 1024), extremes(4, 1024), 40);
    to.add("largest sums", extremes(9, max_dim), extremes(2, max_dim), 9);
    to.add("of one gray", grays(150, 30, 921), grays(6, 30, 922), 70);
    to.add("of one gray", grays(60, 784, 923), grays(6, 784, 924), 5);
    for (const std::int64_t dim : {5, 784, static_cast<int>(max_dim)})
        to.add("nearly white", nearly_white(40, dim, 931), nearly_white(3, dim, 932), 9);
    to.add("multiples", multiples(120, 50, 941), multiples(7, 50, 941), 30);
    to.add("negatives", negatives(120, 50, 951), negatives(6, 50, 951), 120);
    to.add("sparse", sparse(900, 784, 961, 4), sparse(12, 784, 962, 4), 5);
}

std::vector<Case> build_for_metrics() {
    Builder builder;
    add_random_sizes(builder);
    add_special_images(builder);
    return std::move(builder.cases);
}

std::vector<Case> build() {
    Builder builder;
    add_sizes(builder);
    add_ks(builder);
    add_orders(builder);
    add_largest_sums(builder);
    return std::move(builder.cases);
}

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

ImageRows view(const Rows& rows) {
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

std::int64_t wrong_votes(const SearchResult& result, const SearchRequest& request) {
    std::int64_t wrong = 0;
    for (std::int64_t q = 0; q < request.query.count; ++q) {
        const Vote expected = cpu::vote(result.neighbors.row(q), request.train_labels, request.weights,
                                        request.tie, {request.metric, request.p});
        wrong += !(result.votes[static_cast<std::size_t>(q)] == expected);
    }
    return wrong;
}

void check_case(const Case& c, const Answers& expected, const SearchRequest& request,
                const std::function<SearchResult(const SearchRequest&)>& search) {
    CAPTURE(c.name);
    CAPTURE(request.batch);
    const SearchResult result = search(request);
    REQUIRE(result.neighbors.n_query == c.query.n);
    REQUIRE(result.neighbors.k == c.k);
    REQUIRE(result.votes.size() == static_cast<std::size_t>(c.query.n));
    CHECK(wrong_queries(result.neighbors, expected) == 0);
    CHECK(wrong_votes(result, request) == 0);
}

}  // namespace

const std::vector<Case>& battery() {
    static const std::vector<Case> cases = build();
    return cases;
}

const std::vector<Case>& metric_battery() {
    static const std::vector<Case> cases = build_for_metrics();
    return cases;
}

const std::vector<Measure>& other_measures() {
    static const std::vector<Measure> measures = {{Metric::l1, 2},     {Metric::lp, 0.5},   {Metric::lp, 1},
                                                  {Metric::lp, 1.5},   {Metric::lp, 3},     {Metric::lp, 15},
                                                  {Metric::cosine, 2}, {Metric::pearson, 2}};
    return measures;
}

namespace {

/// Returns how many cases ran.
int check_measure(const std::string& name, const std::function<SearchResult(const SearchRequest&)>& search,
                  const std::function<Refusal(const Problem&)>& refuse, const Measure& measure) {
    std::mt19937 random(12345);
    int ran = 0, refused = 0;
    for (std::size_t i = 0; i < cases_for(measure.metric).size(); ++i) {
        const Case& c = cases_for(measure.metric)[i];
        std::vector<std::uint8_t> labels(static_cast<std::size_t>(c.train.n));
        for (std::uint8_t& label : labels)
            label = static_cast<std::uint8_t>(random() % 5 * 51);  // 0 to 204
        SearchRequest request;
        request.train = view(c.train);
        request.query = view(c.query);
        request.train_labels = labels;
        request.k = c.k;
        request.metric = measure.metric;
        request.p = measure.p;
        request.weights = i % 2 == 0 ? Weights::uniform : Weights::distance;
        request.tie = i / 2 % 2 == 0 ? Tie::smallest : Tie::nearest;
        if (const Refusal why = refuse ? refuse(request.problem()) : Refusal{}) {
            // Where a metric is unknown to an engine, all of its cases are refused alike.
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

void check_engine(const std::string& name, const std::function<SearchResult(const SearchRequest&)>& search,
                  const std::function<Refusal(const Problem&)>& refuse,
                  const std::vector<Measure>& measures) {
    CAPTURE(name);
    CHECK(check_measure(name, search, refuse, Measure{}) > 0);
    for (const Measure& measure : measures) {
        CAPTURE(measure.metric);
        CAPTURE(measure.p);
        check_measure(name, search, refuse, measure);
    }
}

}  // namespace knn::test
