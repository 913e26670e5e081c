#include "cpu/vectors/quantized.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

namespace knn::cpu {

namespace {

constexpr std::int64_t rows_per_piece = 64;

}  // namespace

/// A row as it is quantized: of length 1 for an angle.
void Quantizer::prepare(const RealRows& rows, std::int64_t i, double* out) const {
    rows.convert(i, out);
    if (!measure_.is_angle()) return;
    const double inverse = rows.inverse_length(i);
    for (std::int64_t j = 0; j < rows.rows().dim; ++j)
        out[j] *= inverse;
}

Quantizer::Quantizer(const RealMeasure& measure, const RealRows& train, int threads,
                     const ProgressToken& token)
    : measure_(measure), bound_{measure.measure.metric == Metric::l1, measure.is_angle()} {
    const std::int64_t n = train.rows().count, dim = train.rows().dim;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> most(at(dim), -infinity);
    offsets_.assign(at(dim), infinity);
    std::mutex mutex;
    const std::int64_t piece = std::max(divide_up(n, 64), rows_per_piece);
    for_rows(n, piece, threads, token, [&](std::int64_t first, std::int64_t last) {
        Uninitialized<double> row(at(train.stride()));
        std::vector<double> low(at(dim), infinity), high(at(dim), -infinity);
        for (std::int64_t i = first; i < last; ++i) {
            prepare(train, i, row.data());
            measure.kernel.extend(row.data(), dim, low.data(), high.data());
        }
        const std::lock_guard lock(mutex);
        measure.kernel.extend(low.data(), dim, offsets_.data(), most.data());
        measure.kernel.extend(high.data(), dim, offsets_.data(), most.data());
    });
    double range = 0;
    for (std::size_t j = 0; j < most.size(); ++j)
        range = std::max(range, most[j] - offsets_[j]);
    if (range == 0) return;
    constexpr double most_scale = 1e300;
    const double widest = std::min(255 / range, most_scale);
    // Integers lose nothing by an integer scale.
    constexpr std::int64_t sampled = 64;
    std::vector<std::int64_t> sample;
    for (std::int64_t i = 0; i < std::min(n, sampled); ++i)
        sample.push_back(i * n / std::min(n, sampled));
    double least = infinity, best = widest;
    for (const double scale : {widest, std::floor(widest)}) {
        if (scale <= 0) continue;
        bound_.scale = scale;
        std::vector<std::uint8_t> bytes(sample.size() * at(dim));
        std::vector<double> lost(sample.size());
        quantize(train, sample, bytes, lost, 1, token);
        const double mean = std::accumulate(lost.begin(), lost.end(), 0.0) / scale;
        if (!(mean < least)) continue;
        least = mean;
        best = scale;
    }
    bound_.scale = best;
}

Measure Quantizer::byte_measure(const Measure& measure) {
    return {measure.metric == Metric::l1 ? Metric::l1 : Metric::l2};
}

void Quantizer::quantize(const RealRows& rows, std::span<const std::int64_t> which,
                         std::span<std::uint8_t> bytes, std::span<double> lost, int threads,
                         const ProgressToken& token) const {
    const std::int64_t dim = rows.rows().dim;
    for_rows(std::ssize(which), rows_per_piece, threads, token, [&](std::int64_t first, std::int64_t last) {
        Uninitialized<double> row(at(rows.stride()));
        for (std::int64_t i = first; i < last; ++i) {
            prepare(rows, which[at(i)], row.data());
            const QuantizeLoss loss = measure_.kernel.quantize(
                {row.data(), offsets_.data(), bound_.scale, dim, bytes.data() + i * dim});
            lost[at(i)] = bound_.lost(bound_.is_l1 ? loss.absolute : loss.square);
        }
    });
}

}  // namespace knn::cpu
