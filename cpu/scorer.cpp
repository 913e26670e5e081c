#include "cpu/scorer.h"

#include "cpu/pack.h"

namespace knn::cpu {

Arithmetic arithmetic_of(const Measure& measure) {
    if (measure.metric == Metric::cosine || measure.metric == Metric::pearson) return Arithmetic::products;
    const bool by_differences =
        measure.metric == Metric::l1 || (measure.metric == Metric::lp && measure.p <= 1);
    return by_differences ? Arithmetic::differences : Arithmetic::squares;
}

void Scorer::score_rows(std::int64_t query, std::int64_t first, std::span<std::uint32_t> scores) {
    kernel_.direct(queries_.row(query), train_.row(first), std::ssize(scores), train_.dim, scores.data());
}

Scoring make_scoring(const Measure& measure, const Kernel& kernel, Rows train, bool panels) {
    if (is_integral(measure.metric))
        return {.scorer = [&kernel, train](std::int64_t) { return std::make_unique<Scorer>(kernel, train); }};
    if (measure.metric == Metric::lp) return make_power_scoring(measure.p, kernel, train, panels);
    return make_product_scoring(measure.metric, kernel, train, panels);
}

std::int64_t scoring_bytes(const Measure& measure, const Kernel& kernel, std::int64_t n_train,
                           std::int64_t dim) {
    const std::int64_t images = round_up(n_train, kernel.images);
    if (is_integral(measure.metric)) return 0;
    if (measure.metric == Metric::lp)
        return images / kernel.images * std::int64_t{sizeof(std::int64_t)} +
               (dim + 1) * std::int64_t{sizeof(double)};
    return images * std::int64_t{sizeof(PixelSums) + 2 * sizeof(double)};
}

}  // namespace knn::cpu
