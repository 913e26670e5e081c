#include "tests/support/real_oracle.h"

#include "tests/support/test.h"

namespace knn::test {

namespace {

template <class T>
std::vector<double> values_of(const std::uint8_t* row, std::int64_t dim) {
    std::vector<T> typed(static_cast<std::size_t>(dim));
    std::memcpy(typed.data(), row, typed.size() * sizeof(T));
    return {typed.begin(), typed.end()};
}

std::vector<double> values(const knn::Rows& rows, std::int64_t i) {
    switch (rows.type) {
        case ElementType::uint8:
            return values_of<std::uint8_t>(rows.row(i), rows.dim);
        case ElementType::int8:
            return values_of<std::int8_t>(rows.row(i), rows.dim);
        case ElementType::float32:
            return values_of<float>(rows.row(i), rows.dim);
        default:
            return values_of<double>(rows.row(i), rows.dim);
    }
}

/// Terms x[j] · y[j], or |x[j] − y[j]|^p.
enum class Terms { products, squares, differences, powers };

double eight_sums(const std::vector<double>& x, const std::vector<double>& y, Terms terms, double p) {
    double sums[8] = {};
    for (std::size_t lane = 0; lane < 8; ++lane)
        for (std::size_t j = lane; j < x.size(); j += 8) {
            const double d = std::fabs(x[j] - y[j]);
            if (terms == Terms::products) sums[lane] = std::fma(x[j], y[j], sums[lane]);
            if (terms == Terms::squares) sums[lane] = std::fma(d, d, sums[lane]);
            if (terms == Terms::differences) sums[lane] += d;
            if (terms == Terms::powers) sums[lane] += power(d, p);
        }
    for (std::size_t half = 4; half >= 1; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane)
            sums[lane] = sums[lane] + sums[lane + half];
    return sums[0];
}

std::vector<double> centered(std::vector<double> x, Metric metric) {
    if (metric != Metric::pearson) return x;
    if (std::equal(x.begin() + 1, x.end(), x.begin())) return std::vector<double>(x.size());
    const double mean =
        eight_sums(x, std::vector<double>(x.size(), 1.0), Terms::products, 0) / static_cast<double>(x.size());
    for (double& one : x)
        one -= mean;
    return x;
}

/// Of rows as `centered` makes them.
double distance_between(const Measure& measure, const std::vector<double>& x, const std::vector<double>& y) {
    if (measure.metric == Metric::l2) return eight_sums(x, y, Terms::squares, 0);
    if (measure.metric == Metric::l1) return eight_sums(x, y, Terms::differences, 0);
    if (measure.metric == Metric::lp) return eight_sums(x, y, Terms::powers, measure.p);
    return cosine_distance(eight_sums(x, y, Terms::products, 0), eight_sums(x, x, Terms::products, 0),
                           eight_sums(y, y, Terms::products, 0));
}

template <class T>
void append(std::vector<std::uint8_t>& bytes, double value) {
    const T typed = static_cast<T>(value);
    const auto* from = reinterpret_cast<const std::uint8_t*>(&typed);
    bytes.insert(bytes.end(), from, from + sizeof typed);
}

}  // namespace

RealSet real_set(const std::string& name, const std::vector<double>& all, std::int64_t dim,
                 ElementType type) {
    RealSet set{name, {}, static_cast<std::int64_t>(all.size()) / dim, dim, type};
    for (const double value : all) {
        if (type == ElementType::int8) append<std::int8_t>(set.bytes, value);
        if (type == ElementType::float32) append<float>(set.bytes, value);
        if (type == ElementType::float64) append<double>(set.bytes, value);
        if (type == ElementType::uint8) append<std::uint8_t>(set.bytes, value);
    }
    return set;
}

RealSet normal_set(std::int64_t n, std::int64_t dim, std::uint64_t seed, int centers, ElementType type) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> middle(static_cast<std::size_t>(std::max(centers, 1) * dim));
    if (centers > 0)
        for (double& one : middle)
            one = 4 * normal(random);
    std::vector<double> all;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::uint64_t center = centers > 0 ? random() % static_cast<std::uint64_t>(centers) : 0;
        for (std::int64_t j = 0; j < dim; ++j) {
            const double value =
                middle[center * static_cast<std::uint64_t>(dim) + static_cast<std::uint64_t>(j)] +
                normal(random);
            all.push_back(type == ElementType::int8 ? std::clamp(std::round(20 * value), -128.0, 127.0)
                                                    : value);
        }
    }
    return real_set("normal", all, dim, type);
}

std::vector<RealSet> hostile_real_sets(ElementType type) {
    constexpr std::int64_t n = 1500;
    std::mt19937_64 random(7);
    const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    std::vector<RealSet> sets;
    const auto add = [&](const char* name, const auto& value, std::int64_t columns = 19) {
        std::vector<double> all;
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
                all.push_back(value(i, j));
        sets.push_back(real_set(name, all, columns, type));
    };
    using Index = std::int64_t;
    if (type == ElementType::int8) {
        add("int8: all values", [&](Index, Index) { return static_cast<double>(random() % 256) - 128; });
        add("int8: ends", [&](Index, Index) { return random() % 2 == 0 ? -128.0 : 127.0; });
        add("int8: few values", [&](Index, Index) { return static_cast<double>(random() % 3); });
        return sets;
    }
    add("uniform", [&](Index, Index) { return uniform(); });
    add("cancellation", [&](Index, Index) { return 1e6 + uniform(); });
    add("a column of 1e8", [&](Index, Index j) { return j == 3 ? 1e8 : uniform(); });
    add("a column of 0 or 1e8",
        [&](Index i, Index j) { return j == 3 ? (i % 2 == 0 ? 0.0 : 1e8) : uniform(); });
    add("denormals", [&](Index, Index) { return std::round(uniform() * 1000) * 1.4e-45; });
    add("1e30 beside 1e-30", [&](Index, Index j) { return (uniform() - 0.5) * (j % 2 == 0 ? 1e30 : 1e-30); });
    add("rows of 1e30, rows of 1e-30",
        [&](Index i, Index) { return (uniform() - 0.5) * (i % 2 == 0 ? 1e30 : 1e-30); });
    add("one row of 1e30", [&](Index i, Index) { return i == 700 ? 1e30 : uniform(); });
    add("all equal", [&](Index, Index) { return 0.1; });
    add("duplicates", [&](Index i, Index j) { return static_cast<double>((i % 7 * 31 + j * 17) % 23) / 10; });
    add("constant rows", [&](Index i, Index) { return static_cast<double>(i % 40) / 10; });
    add("blank rows", [&](Index i, Index) { return i % 2 == 0 ? 0.0 : uniform(); });
    add("multiples", [&](Index i, Index j) {
        return static_cast<double>(i % 50 + 1) * (0.1 + static_cast<double>(j % 5));
    });
    add("integers", [&](Index, Index) { return static_cast<double>(random() % 17); });
    add("pixels / 255",
        [&](Index, Index) { return random() % 4 == 0 ? static_cast<double>(random() % 256) / 255 : 0.0; });
    add("negative", [&](Index, Index) { return -uniform() * 3; });
    add("signed zeros", [&](Index i, Index) { return random() % 2 == 0 ? 0.0 : i % 2 == 0 ? -0.0 : 1.0; });
    add(
        "one column", [&](Index, Index) { return uniform(); }, 1);
    add(
        "two columns", [&](Index, Index) { return std::round(uniform() * 50); }, 2);
    add(
        "eight columns", [&](Index, Index) { return uniform(); }, 8);
    add(
        "300 columns", [&](Index, Index) { return uniform() + uniform() + uniform(); }, 300);
    return sets;
}

double defined_distance(const Measure& measure, const knn::Rows& a, std::int64_t i, const knn::Rows& b,
                        std::int64_t j) {
    return distance_between(measure, centered(values(a, i), measure.metric),
                            centered(values(b, j), measure.metric));
}

long double long_distance(const Measure& measure, const knn::Rows& a, std::int64_t i, const knn::Rows& b,
                          std::int64_t j) {
    const auto x = values(a, i), y = values(b, j);
    long double sum = 0, mean_x = 0, mean_y = 0;
    const auto size = static_cast<long double>(x.size());
    if (measure.metric == Metric::pearson)
        for (std::size_t d = 0; d < x.size(); ++d) {
            mean_x += x[d] / size;
            mean_y += y[d] / size;
        }
    long double xx = 0, yy = 0;
    for (std::size_t d = 0; d < x.size(); ++d) {
        const long double difference = std::abs(static_cast<long double>(x[d]) - y[d]);
        if (measure.metric == Metric::l2) sum += difference * difference;
        if (measure.metric == Metric::l1) sum += difference;
        if (measure.metric == Metric::lp) sum += std::pow(difference, static_cast<long double>(measure.p));
        const long double cx = x[d] - mean_x, cy = y[d] - mean_y;
        xx += cx * cx;
        yy += cy * cy;
        if (measure.metric == Metric::cosine || measure.metric == Metric::pearson) sum += cx * cy;
    }
    if (measure.metric == Metric::cosine || measure.metric == Metric::pearson)
        return xx == 0 || yy == 0 ? 1 : 1 - sum / (std::sqrt(xx) * std::sqrt(yy));
    return sum;
}

Neighbors nearest_reals(const knn::Rows& train, const knn::Rows& query, int k, const Measure& measure,
                        std::span<const std::uint32_t> images) {
    Neighbors nearest(query.count, k);
    std::vector<std::vector<double>> rows;
    for (std::int64_t i = 0; i < train.count; ++i)
        rows.push_back(centered(values(train, i), measure.metric));
    for (std::int64_t q = 0; q < query.count; ++q) {
        const auto asked = centered(values(query, q), measure.metric);
        std::vector<std::pair<double, std::uint32_t>> all;
        for (std::int64_t i = 0; i < train.count; ++i)
            if (images.empty() || images[static_cast<std::size_t>(q)] != i)
                all.emplace_back(distance_between(measure, asked, rows[static_cast<std::size_t>(i)]),
                                 static_cast<std::uint32_t>(i));
        std::partial_sort(all.begin(), all.begin() + k, all.end());
        for (int i = 0; i < k; ++i)
            nearest.row(q)[static_cast<std::size_t>(i)] = {
                score_of_real(all[static_cast<std::size_t>(i)].first),
                all[static_cast<std::size_t>(i)].second};
    }
    return nearest;
}

}  // namespace knn::test
