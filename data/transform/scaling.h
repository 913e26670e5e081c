#pragma once
/// `minmax` and `zscore`: each attribute (column, pixel) is scaled by what is fitted to it on the training set, so that all contribute
/// equally to a distance. Rows of any type become float64.
///
///   minmax   (x − least) / (largest − least)
///   zscore   (x − mean) / σ,  mean = Σx / n,  σ = √(Σ(x − mean)² / n)
///
/// In double precision, each operation rounded by itself; sums begin at 0 and take the rows in order. An attribute that is the same in all
/// training rows, or whose squares are all below the range of a double (σ = 0), becomes 0, in queries too.

#include <atomic>
#include <vector>

#include "data/core/rows.h"
#include "data/transform/spec.h"

namespace knn {

struct ColumnScaling {
    ElementType type = ElementType::uint8;            ///< of the rows that it reads
    std::vector<double> offsets = {}, divisors = {};  ///< of each column; divisor 0: the column becomes 0
};

/// kind: minmax or zscore; at least one row. Throws DataError where a sum leaves the range of a double; Interrupted.
ColumnScaling fit_scaling(TransformKind kind, const Rows& rows, const std::atomic<bool>* stop = nullptr);

/// One row. `in`: divisors.size() elements of `scaling.type`.
void scale_row(const ColumnScaling& scaling, const std::uint8_t* in, double* out);

}  // namespace knn
