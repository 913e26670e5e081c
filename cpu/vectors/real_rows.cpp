#include "cpu/vectors/real_rows.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>

namespace knn::cpu {

namespace {

constexpr std::int64_t rows_per_piece = 64;

RealSum sum_of(Metric metric) {
    if (metric == Metric::l2) return RealSum::squares;
    if (metric == Metric::l1) return RealSum::differences;
    return metric == Metric::lp ? RealSum::powers : RealSum::products;
}

/// Whether all elements are the same number.
bool is_constant(const double* row, std::int64_t dim) {
    return std::all_of(row, row + dim, [&](double x) { return x == row[0]; });
}

}  // namespace

RealMeasure::RealMeasure(const Measure& of)
    : measure(of), kernel(chosen_real_kernel()), sum(sum_of(of.metric)) {}

void RealMeasure::run(RealPass& pass) const {
    const double p = measure.p, whole = std::floor(p);
    pass.p = p;
    pass.whole = static_cast<unsigned>(whole);
    pass.root = p > whole;
    pass.power = p == whole || p == whole + 0.5 ? nullptr : power;
    kernel.sums[static_cast<std::size_t>(sum)](pass);
}

RealRows::RealRows(const RealMeasure& measure, const Rows& rows, int threads, const ProgressToken& token)
    : measure_(measure), rows_(rows), stride_(round_up(rows.dim, real_lanes)) {
    if (!measure.is_angle()) return;
    constexpr double least_square = 0x1p-900;  // what is lost of a product, 2⁻¹⁰⁷⁵, is nothing beside it
    norms_.resize(at(rows.count));
    std::atomic<bool> lose_bits = false;
    for_rows(rows.count, rows_per_piece, threads, token, [&](std::int64_t first, std::int64_t last) {
        Uninitialized<double> row(at(stride_));
        for (std::int64_t i = first; i < last; ++i) {
            RealNorm& norm = norms_[at(i)];
            convert(i, row.data());
            if (measure.measure.metric == Metric::pearson) {
                if (is_constant(row.data(), rows.dim)) continue;
                norm.mean = measure.kernel.sum(row.data(), stride_) / static_cast<double>(rows.dim);
                convert(i, row.data());
            }
            RealPass self{row.data(), row.data(), 1, 1, stride_, nullptr, &norm.square};
            measure.run(self);
            if (norm.square > 0) norm.inverse_length = 1 / std::sqrt(norm.square);
            if (norm.square > 0 && norm.square < least_square) lose_bits = true;
        }
    });
    lose_bits_ = lose_bits;
}

void RealRows::convert(std::int64_t i, double* out) const {
    const double mean = norms_.empty() ? 0 : norms_[at(i)].mean;
    measure_.kernel.convert[static_cast<std::size_t>(rows_.type)](rows_.row(i), rows_.dim, mean, out);
    std::fill(out + rows_.dim, out + stride_, 0.0);
}

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

Magnitude magnitude_of(const Rows& rows, int threads, const ProgressToken& token) {
    constexpr std::int64_t piece_bytes = 1 << 20;
    const std::int64_t piece = std::max<std::int64_t>(piece_bytes / rows.row_bytes(), 1);
    std::vector<Magnitude> pieces(at(divide_up(rows.count, piece)));
    for_rows(rows.count, piece, threads, token, [&](std::int64_t first, std::int64_t last) {
        Magnitude& one = pieces[at(first / piece)];
        one = knn::magnitude_of(rows.slice(first, last - first));
        one.row += first;
    });
    Magnitude all;
    for (const Magnitude& one : pieces)
        if (one.largest > all.largest) all = one;
    return all;
}

void RealBest::prune() {
    if (found_.size() < k_) return;
    const auto last = found_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(found_.begin(), last, found_.end());
    found_.resize(k_);
    limit_ = std::min(limit_, found_.back().distance);
}

std::span<const RealNeighbor> RealBest::finish() {
    std::sort(found_.begin(), found_.end());
    if (found_.size() > k_) found_.resize(k_);
    return found_;
}

void write_best(RealBest& best, std::span<Neighbor> to) {
    const auto found = best.finish();
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = i < found.size() ? Neighbor{score_of_real(found[i].distance), found[i].index} : no_neighbor;
}

}  // namespace knn::cpu
