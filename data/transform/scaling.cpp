#include "data/transform/scaling.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "data/core/errors.h"
#include "data/file/transfer.h"

namespace knn {

namespace {

/// Calls use(j, x) for the elements of a row.
template <class Element, class Use>
void each(const std::uint8_t* row, std::size_t dim, const Use& use) {
    const auto* const elements = reinterpret_cast<const Element*>(row);
    for (std::size_t j = 0; j < dim; ++j)
        use(j, static_cast<double>(elements[j]));
}
template <class Use>
void each(const std::uint8_t* row, std::size_t dim, ElementType type, const Use& use) {
    of_type(type, [&](auto element) { each<decltype(element)>(row, dim, use); });
}

template <class Use>
void each_of_all(const Rows& rows, const std::atomic<bool>* stop, const Use& use) {
    constexpr std::int64_t elements_between_looks = 1 << 20;
    const std::int64_t rows_between_looks = elements_between_looks / rows.dim + 1;
    for (std::int64_t i = 0; i < rows.count; ++i) {
        if (i % rows_between_looks == 0) {
            if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw Interrupted();
            throw_if_stopped();
        }
        each(rows.row(i), static_cast<std::size_t>(rows.dim), rows.type, use);
    }
}

}  // namespace

ColumnScaling fit_scaling(TransformKind kind, const Rows& rows, const std::atomic<bool>* stop) {
    const auto dim = static_cast<std::size_t>(rows.dim);
    ColumnScaling scaling{rows.type, std::vector<double>(dim), std::vector<double>(dim)};
    std::vector<double> least(dim), largest(dim), &offsets = scaling.offsets, &divisors = scaling.divisors;
    each(rows.row(0), dim, rows.type, [&](std::size_t j, double x) { least[j] = largest[j] = x; });
    each_of_all(rows, stop, [&](std::size_t j, double x) {
        least[j] = std::min(least[j], x);
        largest[j] = std::max(largest[j], x);
        offsets[j] += x;
    });
    if (kind == TransformKind::minmax) {
        offsets = least;
        for (std::size_t j = 0; j < dim; ++j)
            divisors[j] = largest[j] - least[j];
    } else {
        const auto n = static_cast<double>(rows.count);
        for (double& offset : offsets)
            offset /= n;
        each_of_all(rows, stop, [&](std::size_t j, double x) {
            const double difference = x - offsets[j];
            divisors[j] += difference * difference;
        });
        for (std::size_t j = 0; j < dim; ++j)
            divisors[j] = least[j] == largest[j] ? 0 : std::sqrt(divisors[j] / n);
    }
    for (std::size_t j = 0; j < dim; ++j)
        if (!std::isfinite(offsets[j]) || !std::isfinite(divisors[j]))
            throw DataError(std::string("transform ") + name(kind) + ", counted from 1: column " +
                            std::to_string(j + 1) +
                            " has numbers of such size that their sums are infinite; expected smaller ones");
    return scaling;
}

void scale_row(const ColumnScaling& scaling, const std::uint8_t* in, double* out) {
    each(in, scaling.divisors.size(), scaling.type, [&](std::size_t j, double x) {
        out[j] = scaling.divisors[j] == 0 ? 0 : (x - scaling.offsets[j]) / scaling.divisors[j];
    });
}

}  // namespace knn
