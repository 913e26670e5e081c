#pragma once
/// A fitted transform, as the backends execute it: integers and tables.

#include <cstdint>
#include <variant>
#include <vector>

#include "data/transform/blur.h"
#include "data/transform/deskew.h"
#include "data/transform/histograms.h"
#include "data/transform/normalize.h"
#include "data/transform/projection.h"
#include "data/transform/scaling.h"
#include "data/transform/spec.h"

namespace knn {

struct Deskew {
    double part;  ///< of the slant
};
struct Normalize {};

/// One pass over a row: reads dim_in bytes, of an image or of features, and writes dim_out. ColumnScaling reads dim_in elements of its type,
/// and writes float64.
struct FittedStep {
    std::variant<Deskew, Normalize, Blur, Projection, Histograms, ColumnScaling> what;
    ImageShape image;  ///< before the step; of the original image where only features are left
    std::int64_t dim_in = 0, dim_out = 0;
};

/// `gradients` is two steps, a Deskew and Histograms.
struct FittedTransform {
    TransformSpec spec;
    ImageShape image;
    std::vector<FittedStep> steps;  ///< none: raw
    ElementType type_in = ElementType::uint8;

    bool is_raw() const { return steps.empty(); }
    std::int64_t dim_in() const { return image.dim(); }
    std::int64_t dim_out() const { return steps.empty() ? image.dim() : steps.back().dim_out; }
    ElementType type_out() const { return spec.makes_reals() ? ElementType::float64 : type_in; }
    std::int64_t row_bytes_out() const { return dim_out() * size_of(type_out()); }
    /// `count` rows of its output.
    Rows rows_out(const std::uint8_t* features, std::int64_t count) const {
        return {features, count, dim_out(), type_out()};
    }
};

/// Appends the steps of `step`, which follow those before; `projection`: that of a `pca`, `scaling`: that of `minmax` or `zscore`, already
/// fitted.
void append_step(FittedTransform& transform, const TransformStep& step, Projection projection = {},
                 ColumnScaling scaling = {});

/// How the values of a row lie on the image: `depth` values at each of rows × cols places, row by row.
struct FeatureGrid {
    int rows = 1, cols = 1, depth = 1;
};

/// Of a row that is compared: pixels, or cells or blocks of histograms. The values of a projection are all at one place.
/// Null: raw.
FeatureGrid grid_of(const FittedTransform* transform, ImageShape image);

/// Memory between the passes of one row.
struct TransformScratch {
    std::vector<std::int32_t> sums;
    std::vector<std::uint8_t> rows[2];
};

/// One step for one row, as it is defined.
void apply_step(const FittedStep& step, const std::uint8_t* in, std::uint8_t* out, TransformScratch& scratch);

}  // namespace knn
