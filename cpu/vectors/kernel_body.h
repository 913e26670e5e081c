#pragma once
/// The code of RealKernel for a struct Isa with
///
///   V                          real_lanes doubles
///   zero(), load(p), store(p, v), add(a, b), sub(a, b), mul(a, b), abs(a), sqrt(a), fma(a, b, c)
///   queries, rows              of a block of pairs whose sums fit the registers
///
/// Included once by each file, whose flags are those of the instruction set and forbid to fuse operations.

#include "cpu/vectors/kernel.h"

namespace {

using namespace knn::cpu;

constexpr std::int64_t checked_lanes = 256;  // elements between two looks at the limits

template <class Isa>
double total_of(typename Isa::V v) {
    double s[real_lanes];
    Isa::store(s, v);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

template <class Isa>
typename Isa::V power_of(const RealPass& pass, typename Isa::V x) {
    if (pass.power != nullptr) {
        double lanes[real_lanes];
        Isa::store(lanes, x);
        for (double& lane : lanes)
            lane = pass.power(lane, pass.p);
        return Isa::load(lanes);
    }
    if (pass.whole == 0) return Isa::sqrt(x);
    typename Isa::V result = x;
    int bit = 31 - __builtin_clz(pass.whole);
    while (--bit >= 0) {
        result = Isa::mul(result, result);
        if (pass.whole >> bit & 1) result = Isa::mul(result, x);
    }
    return pass.root ? Isa::mul(result, Isa::sqrt(x)) : result;
}

template <class Isa, RealSum S>
typename Isa::V with_term(const RealPass& pass, typename Isa::V a, typename Isa::V b, typename Isa::V sum) {
    if constexpr (S == RealSum::products) return Isa::fma(a, b, sum);
    const typename Isa::V d = Isa::sub(a, b);
    if constexpr (S == RealSum::squares) return Isa::fma(d, d, sum);
    if constexpr (S == RealSum::differences) return Isa::add(sum, Isa::abs(d));
    return Isa::add(sum, power_of<Isa>(pass, Isa::abs(d)));
}

/// Q queries against R rows.
template <class Isa, RealSum S, int Q, int R>
void sum_block(const RealPass& pass, std::int64_t query, std::int64_t row) {
    using V = typename Isa::V;
    V sums[Q][R];
    for (auto& of_query : sums)
        for (V& sum : of_query)
            sum = Isa::zero();
    const double* a[Q];
    const double* b[R];
    for (int q = 0; q < Q; ++q)
        a[q] = pass.queries + (query + q) * pass.stride;
    for (int r = 0; r < R; ++r)
        b[r] = pass.rows + (row + r) * pass.stride;
    double totals[Q][R] = {};
    for (std::int64_t begin = 0; begin < pass.stride;) {
        const std::int64_t end = begin + checked_lanes < pass.stride ? begin + checked_lanes : pass.stride;
        for (std::int64_t j = begin; j < end; j += real_lanes) {
            V of_rows[R];
            for (int r = 0; r < R; ++r)
                of_rows[r] = Isa::load(b[r] + j);
            for (int q = 0; q < Q; ++q) {
                const V of_query = Isa::load(a[q] + j);
                for (int r = 0; r < R; ++r)
                    sums[q][r] = with_term<Isa, S>(pass, of_query, of_rows[r], sums[q][r]);
            }
        }
        begin = end;
        if (begin < pass.stride && pass.limits == nullptr) continue;
        bool is_any = false;
        for (int q = 0; q < Q; ++q)
            for (int r = 0; r < R; ++r) {
                totals[q][r] = total_of<Isa>(sums[q][r]);
                is_any = is_any || pass.limits == nullptr || totals[q][r] <= pass.limits[query + q];
            }
        if (!is_any) break;  // sums never fall
    }
    for (int q = 0; q < Q; ++q)
        for (int r = 0; r < R; ++r)
            pass.totals[(query + q) * pass.n_rows + row + r] = totals[q][r];
}

template <class Isa, RealSum S>
void sum_pairs(const RealPass& pass) {
    constexpr int Q = Isa::queries, R = Isa::rows, row_alone = Q * R > 1 ? 8 : 1;
    std::int64_t query = 0;
    for (; query + Q <= pass.n_query && pass.n_query > 1; query += Q) {
        std::int64_t row = 0;
        for (; row + R <= pass.n_rows; row += R)
            sum_block<Isa, S, Q, R>(pass, query, row);
        for (; row < pass.n_rows; ++row)
            sum_block<Isa, S, Q, 1>(pass, query, row);
    }
    for (; query < pass.n_query; ++query) {
        std::int64_t row = 0;
        if (S != RealSum::powers)
            for (; row + row_alone <= pass.n_rows; row += row_alone)
                sum_block<Isa, S, 1, row_alone>(pass, query, row);
        for (; row < pass.n_rows; ++row)
            sum_block<Isa, S, 1, 1>(pass, query, row);
    }
}

template <class Isa>
double sum_row(const double* row, std::int64_t stride) {
    typename Isa::V sum = Isa::zero();
    for (std::int64_t j = 0; j < stride; j += real_lanes)
        sum = Isa::add(sum, Isa::load(row + j));
    return total_of<Isa>(sum);
}

template <class T>
void convert_row(const void* row, std::int64_t dim, double mean, double* out) {
    const T* const from = static_cast<const T*>(row);
    for (std::int64_t j = 0; j < dim; ++j) {
        T value;
        __builtin_memcpy(&value, from + j, sizeof value);
        out[j] = static_cast<double>(value) - mean;
    }
}

void extend_by(const double* row, std::int64_t dim, double* least, double* most) {
    for (std::int64_t j = 0; j < dim; ++j) {
        least[j] = row[j] < least[j] ? row[j] : least[j];
        most[j] = row[j] > most[j] ? row[j] : most[j];
    }
}

QuantizeLoss quantize_row(const QuantizeRow& work) {
    constexpr int lanes = 16;
    double absolute[lanes] = {}, square[lanes] = {};
    const auto one = [&](std::int64_t j, int lane) {
        const double u = (work.row[j] - work.offsets[j]) * work.scale;
        double within = u < 255.0 ? u : 255.0;
        within = within > 0.0 ? within : 0.0;
        const auto byte = static_cast<std::int32_t>(within + 0.5);
        const double lost = u - static_cast<double>(byte);
        work.bytes[j] = static_cast<std::uint8_t>(byte);
        absolute[lane] += lost < 0 ? -lost : lost;
        square[lane] += lost * lost;
    };
    std::int64_t j = 0;
    for (; j + lanes <= work.dim; j += lanes)
        for (int lane = 0; lane < lanes; ++lane)
            one(j + lane, lane);
    for (; j < work.dim; ++j)
        one(j, 0);
    QuantizeLoss loss;
    for (int lane = 0; lane < lanes; ++lane) {
        loss.absolute += absolute[lane];
        loss.square += square[lane];
    }
    return loss;
}

template <class Isa>
constexpr RealKernel real_kernel(const char* name) {
    return {name,
            {convert_row<std::uint8_t>, convert_row<std::int8_t>, convert_row<float>, convert_row<double>},
            {sum_pairs<Isa, RealSum::squares>, sum_pairs<Isa, RealSum::differences>,
             sum_pairs<Isa, RealSum::products>, sum_pairs<Isa, RealSum::powers>},
            sum_row<Isa>,
            extend_by,
            quantize_row};
}

}  // namespace
