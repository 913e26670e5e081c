#pragma once
/// The names of transforms, as users write them and reports repeat them. A transform turns images into rows of bytes,
/// so every engine, kernel and metric works on its output; or, as the last step, any rows into rows of float64.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/core/names.h"
#include "data/core/problem.h"
#include "data/core/rows.h"

namespace knn {

enum class TransformKind { raw, deskew, normalize, blur, pca, hog, gradients, minmax, zscore };
template <>
inline constexpr std::array name_list<TransformKind>{"raw", "deskew",    "normalize", "blur",  "pca",
                                                     "hog", "gradients", "minmax",    "zscore"};

/// One transform with its parameter; 0 if it has none.
struct TransformStep {
    TransformKind kind = TransformKind::raw;
    double parameter = 0;

    friend bool operator==(const TransformStep&, const TransformStep&) = default;
};

inline constexpr std::size_t max_transform_steps = 64;

/// Transforms, one after another; none: the pixels themselves.
struct TransformSpec {
    std::vector<TransformStep> steps;

    bool is_raw() const { return steps.empty(); }
    /// Whether a step is fitted to a training set: pca, minmax, zscore.
    bool is_fitted() const;
    /// Whether its output is float64, not bytes.
    bool makes_reals() const;
    /// Whether it is made of steps that take any row of any type: `minmax` or `zscore` alone.
    bool only_scales() const { return makes_reals() && steps.size() == 1; }
    /// As the user writes it: "deskew,pca:100", or "raw".
    std::string text() const;
    friend bool operator==(const TransformSpec&, const TransformSpec&) = default;
};

/// A row of the table of transforms.
struct TransformInfo {
    TransformKind kind;
    const char* parameter;     ///< its name in messages, or null: there is none
    double low, high;          ///< the range of the parameter
    double usual;              ///< its default; 0: it has to be given
    bool is_whole;             ///< the parameter is a whole number
    bool makes_image;          ///< the output is an image of the same size, else a row of features
    bool takes_features;       ///< works on any row of bytes; the others need an image
    bool makes_reals = false;  ///< the output is float64, and no other step takes it
};
std::span<const TransformInfo> transforms();
const TransformInfo& info(TransformKind kind);

/// "raw, deskew[:S], ..., pca:N".
std::string transform_names();

/// Reads "NAME[:PARAMETER],...", at most max_transform_steps of them. Throws UsageError, which begins with `option` and `text`.
TransformSpec parse_transform(std::string_view option, std::string_view text);

/// The number of features: of elements in a row of the output.
std::int64_t output_dim(const TransformSpec& spec, ImageShape image);

/// Why the transform cannot be fitted on `n_train` such images: more components than pixels or images, more than
/// max_dim features.
UnsupportedReason refuse_transform(const TransformSpec& spec, ImageShape image, std::int64_t n_train);

}  // namespace knn
