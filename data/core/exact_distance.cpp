#include "data/core/exact_distance.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace knn {

namespace {

constexpr std::size_t n_sums = 8;

/// The total of terms 0 .. dim − 1; add(s, j) is s with term j.
template <class Add>
double total(std::int64_t dim, const Add& add) {
    std::array<double, n_sums> s{};
    std::int64_t j = 0;
    while (j + std::ssize(s) <= dim)  // a compiler makes vector instructions of the loop in it
        for (double& sum : s)
            sum = add(sum, j++);
    for (double* sum = s.data(); j < dim; ++sum)
        *sum = add(*sum, j++);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/// The elements of a row as doubles.
template <class T>
struct Elements {
    const std::uint8_t* row;

    double operator[](std::int64_t j) const {
        return static_cast<double>(load_as<T>(row + j * std::int64_t{sizeof(T)}));
    }
};

/// Mean and a·a of a row as `cosine` (mean 0) or `pearson` has them.
struct RowNorm {
    double mean = 0, square = 0;
};

/// work(Elements<T>) of the type.
template <class Work>
auto elements_of(ElementType type, const std::uint8_t* row, const Work& work) {
    return of_type(type, [&](auto element) { return work(Elements<decltype(element)>{row}); });
}

template <class Row>
RowNorm norm_of(Metric metric, const Row& row, std::int64_t dim) {
    RowNorm norm;
    if (metric == Metric::pearson) {
        norm.mean =
            total(dim, [&](double s, std::int64_t j) { return s + row[j]; }) / static_cast<double>(dim);
        bool is_constant = true;
        for (std::int64_t j = 1; j < dim && is_constant; ++j)
            is_constant = row[j] == row[0];
        if (is_constant) return norm;
    }
    norm.square = total(dim, [&](double s, std::int64_t j) {
        const double centered = row[j] - norm.mean;
        return std::fma(centered, centered, s);
    });
    return norm;
}

template <class Row>
double distance_between(const Measure& measure, const Row& a, const Row& b, std::int64_t dim) {
    const auto difference = [&](std::int64_t j) { return std::abs(a[j] - b[j]); };
    switch (measure.metric) {
        case Metric::l2:
            return total(dim, [&](double s, std::int64_t j) {
                const double d = difference(j);
                return std::fma(d, d, s);
            });
        case Metric::l1:
            return total(dim, [&](double s, std::int64_t j) { return s + difference(j); });
        case Metric::lp:
            return total(dim, [&](double s, std::int64_t j) { return s + power(difference(j), measure.p); });
        case Metric::cosine:
        case Metric::pearson:
            break;
    }
    const RowNorm of_a = norm_of(measure.metric, a, dim), of_b = norm_of(measure.metric, b, dim);
    const double dot =
        total(dim, [&](double s, std::int64_t j) { return std::fma(a[j] - of_a.mean, b[j] - of_b.mean, s); });
    return cosine_distance(dot, of_a.square, of_b.square);
}

double distance_of_type(const Measure& measure, const std::uint8_t* a, const std::uint8_t* b,
                        std::int64_t dim, ElementType type) {
    return elements_of(type, a,
                       [&](auto row) { return distance_between(measure, row, decltype(row){b}, dim); });
}

#if defined(__x86_64__)
/// The same bits by instructions that not every processor has: without them each fma is a call of the C library.
[[gnu::target("avx2,fma"), gnu::flatten]] double distance_by_fma(const Measure& measure,
                                                                 const std::uint8_t* a, const std::uint8_t* b,
                                                                 std::int64_t dim, ElementType type) {
    return distance_of_type(measure, a, b, dim, type);
}
#endif

/// x^n, n >= 1.
double whole_power(double x, unsigned n) {
    double result = x;
    for (int bit = std::bit_width(n) - 2; bit >= 0; --bit) {
        result = result * result;
        if (n >> bit & 1) result = result * x;
    }
    return result;
}

/// Two doubles whose sum is a number.
struct Pair {
    double high, low;
};

/// log₂ x, x > 0: with x = 2^e m, m from √½ to √2, and s = (m − 1) / (m + 1), log₂ m is 2 / ln 2 times
/// atanh s = s + s³/3 + … + s²³/23, which leaves out less than 2⁻⁶² s.
Pair logarithm(double x) {
    constexpr double scale = 0x1.71547652b82fep+1, scale_low = 0x1.777d0ffda0d24p-55;  // 2 / ln 2
    int e = 0;
    double m = std::frexp(x, &e);  // ½ to 1
    if (m < 0x1.6a09e667f3bcdp-1) {
        m = m * 2;
        e -= 1;
    }
    const double f = m - 1, sum = m + 1, sum_low = m - (sum - 1);
    const double s = f / sum;
    const double s_low = std::fma(-s, sum_low, std::fma(-s, sum, f)) / sum;
    const double z = s * s;
    double tail = 1.0 / 23;
    for (int n = 21; n >= 3; n -= 2)
        tail = std::fma(tail, z, 1.0 / n);
    const double rest = std::fma(s, z * tail, s_low);
    const double high = s * scale;
    const double low = std::fma(scale, rest, std::fma(s, scale_low, std::fma(s, scale, -high)));
    const double whole = e + high;
    const double back = whole - e;
    return {whole, ((e - (whole - back)) + (high - back)) + low};
}

/// 2^(y.high + y.low): the nearest integer apart, and Σ (f ln 2)^i / i! of the rest f to i = 15.
double exponential(Pair y) {
    if (y.high > 1100) return std::numeric_limits<double>::infinity();
    if (y.high < -1200) return 0;
    const double whole = std::nearbyint(y.high);
    const double g = ((y.high - whole) + y.low) * 0x1.62e42fefa39efp-1;
    double sum = 1;
    for (int i = 15; i >= 1; --i)
        sum = std::fma(g / i, sum, 1.0);
    return std::ldexp(sum, static_cast<int>(whole));
}

}  // namespace

double exact_distance(const Measure& measure, const std::uint8_t* a, const std::uint8_t* b, std::int64_t dim,
                      ElementType type) {
#if defined(__x86_64__)
    static const bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (has_fma) return distance_by_fma(measure, a, b, dim, type);
#endif
    return distance_of_type(measure, a, b, dim, type);
}

double shown_distance(const Measure& measure, double exact) {
    return measure.metric == Metric::lp ? root(exact, measure.p) : exact;
}

double power(double x, double p) {
    if (x == 0 || x == std::numeric_limits<double>::infinity()) return x;
    const double whole = std::floor(p);
    if (whole < 16 && (p == whole || p == whole + 0.5)) {
        const auto n = static_cast<unsigned>(whole);
        const double root = p == whole ? 1 : std::sqrt(x);
        return n == 0 ? root : whole_power(x, n) * root;
    }
    const Pair log = logarithm(x);
    const double high = p * log.high;
    return exponential({high, std::fma(p, log.low, std::fma(p, log.high, -high))});
}

double root(double s, double p) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (s == 0 || s == infinity || p == 1) return s;
    if (p == 0.5 || p == 2) return power(s, 1 / p);
    const Pair log = logarithm(s);
    const double high = log.high / p;
    double x = exponential({high, (std::fma(-high, p, log.high) + log.low) / p});
    if (x == infinity) return x;
    const auto error = [&](double of) { return std::abs(power(of, p) - s); };
    for (const double end : {0.0, infinity})
        for (double next; error(next = std::nextafter(x, end)) < error(x);)
            x = next;
    return x;
}

Magnitude magnitude_of(const Rows& rows) {
    Magnitude result;
    if (rows.type == ElementType::uint8 || rows.type == ElementType::int8) {
        result.largest = rows.type == ElementType::uint8 ? 255 : 128;
        return result;
    }
    for (std::int64_t i = 0; i < rows.count && result.is_finite(); ++i) {
        const auto largest_in_row = [&](auto row) {
            double most = 0;
            bool is_finite = true;
            for (std::int64_t j = 0; j < rows.dim; ++j) {
                const double size = std::abs(row[j]);
                is_finite &= size <= std::numeric_limits<double>::max();
                most = size > most ? size : most;
            }
            return is_finite ? most : std::numeric_limits<double>::infinity();
        };
        const double largest = elements_of(rows.type, rows.row(i), largest_in_row);
        if (largest <= result.largest) continue;
        result = {largest, i, 0};
        const auto is_smaller = [&](auto row) { return std::abs(row[result.column]) < largest; };
        const auto is_finite = [&](auto row) { return std::isfinite(row[result.column]); };
        while (result.is_finite() ? elements_of(rows.type, rows.row(i), is_smaller)
                                  : elements_of(rows.type, rows.row(i), is_finite))
            ++result.column;
        result.is_negative =
            elements_of(rows.type, rows.row(i), [&](auto row) { return row[result.column] < 0; });
    }
    return result;
}

double largest_element(const Measure& measure, std::int64_t n) {
    // 2^1000 leaves room for every rounding. With cosine and pearson the sums are those of squares. Where p < 1 the root of the sum is
    // larger than it.
    const double p = measure.metric == Metric::l1 ? 1 : measure.metric == Metric::lp ? measure.p : 2;
    const double terms = std::log2(static_cast<double>(n));
    return std::exp2(std::min((1000 - terms) / p, 1000 - terms / p)) / 2;
}

std::optional<std::string> refuse_elements(const Measure& measure, const Magnitude& magnitude, std::int64_t n,
                                           std::int64_t from) {
    const double most = largest_element(measure, n);
    if (magnitude.largest <= most) return std::nullopt;
    const std::string place = "row " + std::to_string(magnitude.row + from) + ", column " +
                              std::to_string(magnitude.column + from) + " is ";
    if (!magnitude.is_finite()) return place + "not finite; expected finite numbers";
    const auto text = [](double value) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.3g", value);
        return std::string(digits);
    };
    const double unit = std::pow(10, std::floor(std::log10(most)) - 2);  // what is named is not refused
    const char* const terms = measure.metric == Metric::l1   ? " differences"
                              : measure.metric == Metric::lp ? " powers"
                                                             : " squares";
    return place + text(magnitude.is_negative ? -magnitude.largest : magnitude.largest) +
           ", so that a sum of " + std::to_string(n) + terms + (measure.p < 1 ? " or its root" : "") +
           " could be infinite; expected a magnitude of at most " + text(std::floor(most / unit) * unit);
}

}  // namespace knn
