/// The graph of random points against plain loops over all pairs: forms, mutual edges, degrees, components.

#include "classifier/graph.h"

#include "classifier/index.h"
#include "data/core/errors.h"
#include "tests/support/points.h"
#include "tests/support/real_oracle.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

using Edge = std::pair<std::int64_t, std::int64_t>;

/// The neighbors of all points by plain loops, which may be equal: two levels of gray.
struct Naive {
    test::Rows points;
    std::int64_t n;
    Neighbors rows;
    std::set<Edge> edges;

    Naive(std::int64_t n_, int k, int levels, std::uint64_t seed)
        : points(test::random_rows(n_, 5, seed, levels)),
          n(n_),
          rows(test::right(points, points, k, {.first = 0})) {
        for (std::int64_t i = 0; i < n; ++i)
            for (const Neighbor& neighbor : rows.row(i))
                edges.emplace(i, neighbor.index);
    }
    bool has(std::int64_t from, std::int64_t to) const { return edges.contains({from, to}); }
    bool wants(std::int64_t i, std::int64_t j, GraphForm form) const {
        if (form == GraphForm::mutual) return has(i, j) && has(j, i);
        if (form == GraphForm::symmetric) return has(i, j) || has(j, i);
        return has(i, j);
    }
    std::set<Edge> of(GraphForm form) const {
        std::set<Edge> wanted;
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j)
                if (wants(i, j, form)) wanted.emplace(i, j);
        return wanted;
    }
};

/// Labels every point with the smallest point that it can reach, by repeated relaxation.
std::vector<std::int64_t> naive_components(std::int64_t n, const std::set<Edge>& edges) {
    std::vector<std::int64_t> smallest(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        smallest[static_cast<std::size_t>(i)] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& [a, b] : edges) {
            auto &x = smallest[static_cast<std::size_t>(a)], &y = smallest[static_cast<std::size_t>(b)];
            changed = changed || x != y;
            x = y = std::min(x, y);
        }
    }
    return smallest;
}

}  // namespace

TEST_CASE("graph: the forms have the edges that plain loops find, in order, and mutual ones are counted") {
    for (const int levels : {2, 3, 256})
        for (const int k : {1, 4, 29}) {
            const Naive naive(30, k, levels, static_cast<std::uint64_t>(100 * levels + k));
            for (const GraphForm form : {GraphForm::mutual, GraphForm::symmetric}) {
                const GraphRows rows = undirected(naive.rows, form);
                REQUIRE(std::ssize(rows) == naive.n);
                std::size_t neighbors = naive.rows.rows.size();
                for (const auto& row : rows)
                    neighbors += row.capacity();
                CHECK(static_cast<std::int64_t>(neighbors * sizeof(Neighbor)) + naive.n * list_bytes <=
                      undirected_bytes(naive.n, k, form));
                std::set<Edge> found;
                for (std::int64_t i = 0; i < naive.n; ++i) {
                    const std::vector<Neighbor>& row = rows[static_cast<std::size_t>(i)];
                    CHECK(std::is_sorted(row.begin(), row.end()));
                    for (const Neighbor& neighbor : row)
                        CHECK(found.emplace(i, neighbor.index).second);  // none twice
                }
                CHECK(found == naive.of(form));
            }
            MutualCounter counter(naive.n);
            for (std::int64_t i = 0; i < naive.n; ++i)
                counter.row(i, naive.rows.row(i));
            CHECK(2 * counter.pairs() == std::ssize(naive.of(GraphForm::mutual)));
        }
}

TEST_CASE("graph: exact distances order reals whose scores are equal") {
    // Two groups of points, so near each other that all scores between them are equal.
    std::vector<double> values;
    for (int i = 0; i < 40; ++i)
        values.push_back(i % 2 + 1e-9 * (i * 7 % 40));
    const test::RealSet set = test::real_set("", values, 1, ElementType::float64);
    const knn::Rows points = set.rows();
    const Measure measure{Metric::l2, 2, true};
    std::vector<std::uint32_t> images(values.size());
    std::iota(images.begin(), images.end(), 0U);
    const Neighbors directed = test::nearest_reals(points, points, 25, measure, images);
    std::set<Edge> edges;
    for (std::int64_t i = 0; i < points.count; ++i)
        for (const Neighbor& neighbor : directed.row(i))
            edges.emplace(i, neighbor.index);
    const auto has = [&](std::int64_t from, std::int64_t to) { return edges.contains({from, to}); };
    std::int64_t pairs = 0;
    for (const GraphForm form : {GraphForm::mutual, GraphForm::symmetric}) {
        const GraphRows rows = undirected(directed, form, {measure, points});
        const std::atomic<bool> stop = true;
        CHECK_THROWS_AS(undirected(directed, form, {measure, points}, {.progress = nullptr, .stop = &stop}),
                        Interrupted);
        for (std::int64_t i = 0; i < points.count; ++i) {
            std::vector<std::pair<double, std::uint32_t>> wanted, found;
            for (std::uint32_t j = 0; j < images.size(); ++j)
                if (form == GraphForm::mutual ? has(i, j) && has(j, i) : has(i, j) || has(j, i))
                    wanted.emplace_back(test::defined_distance(measure, points, i, points, j), j);
            std::ranges::sort(wanted);
            for (const Neighbor& one : rows[static_cast<std::size_t>(i)])
                found.emplace_back(test::defined_distance(measure, points, i, points, one.index), one.index);
            CHECK(found == wanted);
            if (form == GraphForm::mutual) pairs += std::ssize(found);
        }
    }
    MutualCounter counter(points.count);
    for (std::int64_t i = 0; i < points.count; ++i)
        counter.row(i, directed.row(i), {measure, points});
    CHECK(2 * counter.pairs() == pairs);
    CHECK(pairs < std::ssize(edges));
}

TEST_CASE("graph: degrees, components and classes as plain loops count them") {
    for (const int k : {1, 2, 6}) {
        const Naive naive(50, k, 4, static_cast<std::uint64_t>(k));
        std::vector<std::uint8_t> labels(50);
        for (std::size_t i = 0; i < labels.size(); ++i)
            labels[i] = static_cast<std::uint8_t>(i % 3);
        for (const GraphForm form : {GraphForm::directed, GraphForm::mutual, GraphForm::symmetric}) {
            const std::set<Edge> edges = naive.of(form);
            GraphCounter counter(naive.n, form, labels);
            GraphRows rows;
            if (form == GraphForm::directed)
                for (std::int64_t i = 0; i < naive.n; ++i)
                    rows.emplace_back(naive.rows.row(i).begin(), naive.rows.row(i).end());
            else
                rows = undirected(naive.rows, form);
            for (std::int64_t i = naive.n - 1; i >= 0; --i)  // any order
                counter.row(i, rows[static_cast<std::size_t>(i)]);
            const GraphCounts counts = counter.counts();

            std::vector<std::uint32_t> in(50), any(50);
            std::int64_t same = 0;
            for (const auto& [a, b] : edges) {
                ++in[static_cast<std::size_t>(b)];
                ++any[static_cast<std::size_t>(a)];
                ++any[static_cast<std::size_t>(b)];
                same += a % 3 == b % 3 ? 1 : 0;
            }
            CHECK(counts.points == 50);
            CHECK(counts.edges * (form == GraphForm::directed ? 1 : 2) == std::ssize(edges));
            CHECK(counts.in_degree == in);
            CHECK(counts.without_in_edges() == std::count(in.begin(), in.end(), 0U));
            CHECK(counts.isolated == std::count(any.begin(), any.end(), 0U));
            const auto smallest = naive_components(50, edges);
            CHECK(counts.components == std::ssize(std::set(smallest.begin(), smallest.end())));
            std::int64_t largest = 0;
            for (const std::int64_t one : smallest)
                largest = std::max<std::int64_t>(largest, std::count(smallest.begin(), smallest.end(), one));
            CHECK(counts.largest_component == largest);
            REQUIRE(counts.same_class.has_value() == !edges.empty());
            if (!edges.empty())
                CHECK(*counts.same_class == static_cast<double>(same) / static_cast<double>(edges.size()));
        }
    }
}

TEST_CASE("graph: hubs and skewness") {
    GraphCounts counts;
    counts.points = 4;
    counts.in_degree = {1, 5, 0, 5};
    CHECK(counts.hubs(3) == std::vector<std::int64_t>{1, 3, 0});
    CHECK(counts.hubs(9).size() == 4);
    CHECK(counts.mean_in_degree() == 2.75);
    // scipy.stats.skew([1, 5, 0, 5])
    CHECK(counts.skewness() == doctest::Approx(-0.07141289204148528));
    counts.in_degree = {3, 3, 3, 3};
    CHECK(counts.skewness() == 0);
}

TEST_CASE("graph: the search goes part by part through all points, none its own neighbor") {
    // 8 k bytes a point: with k = 1,024 a part has 8,192 points.
    const std::int64_t n = 8200;
    const int k = 1024;
    const test::Rows points = test::random_rows(n, 3, 5, 3);
    Method method;
    method.vote.k = k;
    const knn::Rows rows = test::view(points);
    const Index classifier(Training{rows, {}}, method, resolve_on_cpu(method.problem({rows, {}}, n), 0));
    Timeline timeline;
    std::vector<std::int64_t> firsts;
    std::int64_t last_done = 0;
    ProgressToken token;
    token.progress = [&](std::int64_t done, std::int64_t total) {
        CHECK(total == n);
        last_done = done;
    };
    std::int64_t wrong = 0;
    search_graph(classifier, timeline, token, [&](std::int64_t first, const Neighbors& part) {
        firsts.push_back(first);
        CHECK(part.n_query <= points_of_part(rows, k));
        for (std::int64_t i = 0; i < part.n_query; ++i)
            for (const Neighbor& neighbor : part.row(i))
                wrong += neighbor.index == first + i ? 1 : 0;
    });
    CHECK(firsts == std::vector<std::int64_t>{0, 8192});
    CHECK(last_done == n);
    CHECK(wrong == 0);
}

TEST_CASE("graph: the neighbors of a part have 64 MiB, or as much memory as the points") {
    CHECK(points_of_part({nullptr, 60'000, 784}, 128) == 65'536);
    CHECK(points_of_part({nullptr, 1'000'000, 784}, 49) == 2'000'000);
    CHECK(points_of_part({nullptr, 10, 1}, 1'024) == 8'192);
}

TEST_CASE("graph: a k that the points do not have is refused") {
    CHECK_NOTHROW(require_others(1, 2));
    CHECK_THROWS_AS(require_others(1, 1), DataError);
    CHECK_THROWS_AS(require_others(2, 2), UsageError);
}
