#include "data/transform/spec.h"

#include <algorithm>
#include <cmath>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/transform/histograms.h"

namespace knn {

namespace {

constexpr std::int64_t max_pca_dim = 4096;  ///< its covariances take 128 MiB, and a minute

using enum TransformKind;
constexpr TransformInfo table[] = {
    {raw, nullptr, 0, 0, 0, false, true, true},
    {deskew, "S", 0, 2, 1, false, true, false},
    {normalize, nullptr, 0, 0, 0, false, true, false},
    {blur, "SIGMA", 0.1, 20, 1, false, true, false},
    {pca, "N", 1, max_pca_dim, 0, true, false, true},
    {hog, nullptr, 0, 0, 0, false, false, false},
    {gradients, nullptr, 0, 0, 0, false, false, false},
    {minmax, nullptr, 0, 0, 0, false, false, true, true},
    {zscore, nullptr, 0, 0, 0, false, false, true, true},
};

double parse_parameter(const TransformInfo& known, std::string_view text, const auto& refuse) {
    const auto value = number_of<double>(text);
    if (!value || !(*value >= known.low && *value <= known.high) ||
        (known.is_whole && *value != std::floor(*value)))
        refuse(std::string(known.parameter) + " = '" + std::string(text) + "' is no " +
               (known.is_whole ? "whole " : "") + "number from " + shortest(known.low) + " to " +
               shortest(known.high) + "; expected " + name(known.kind) + ":" + known.parameter);
    return *value;
}

TransformStep parse_step(std::string_view text, const auto& refuse) {
    const std::string_view given = text.substr(0, text.find(':'));
    const auto known = std::find_if(std::begin(table), std::end(table),
                                    [&](const TransformInfo& one) { return given == name(one.kind); });
    if (known == std::end(table))
        refuse("unknown transform '" + std::string(given) + "'; expected " + transform_names() +
               suggestion<TransformKind>(given));
    const bool has_parameter = given.size() < text.size();
    if (!has_parameter && known->parameter != nullptr && known->usual == 0)
        refuse(std::string(given) + " has no " + known->parameter + "; expected " + std::string(given) + ":" +
               known->parameter + ", such as " + std::string(given) + ":50");
    if (!has_parameter) return {known->kind, known->usual};
    if (known->parameter == nullptr) refuse(std::string(given) + " takes no parameter; expected none");
    return {known->kind, parse_parameter(*known, text.substr(given.size() + 1), refuse)};
}

/// The bytes in a row after one step.
std::int64_t dim_after(const TransformStep& step, ImageShape image, std::int64_t dim) {
    if (step.kind == pca) return static_cast<std::int64_t>(step.parameter);
    if (step.kind == hog) return hog_histograms(image).dim();
    return step.kind == gradients ? gradient_histograms(image).dim() : dim;
}

}  // namespace

std::span<const TransformInfo> transforms() {
    return table;
}

const TransformInfo& info(TransformKind kind) {
    return table[static_cast<std::size_t>(kind)];
}

std::string transform_names() {
    std::string names;
    for (const TransformInfo& known : table) {
        names.append(names.empty() ? "" : ", ").append(name(known.kind));
        if (known.parameter == nullptr) continue;
        names.append(known.usual > 0 ? "[:" : ":").append(known.parameter).append(known.usual > 0 ? "]" : "");
    }
    return names;
}

bool TransformSpec::is_fitted() const {
    return std::ranges::any_of(steps, [](const TransformStep& step) {
        return step.kind == TransformKind::pca || info(step.kind).makes_reals;
    });
}

bool TransformSpec::makes_reals() const {
    return !steps.empty() && info(steps.back().kind).makes_reals;
}

std::string TransformSpec::text() const {
    if (steps.empty()) return "raw";
    std::string text;
    for (const TransformStep& step : steps) {
        text.append(text.empty() ? "" : ",").append(name(step.kind));
        if (step.parameter != info(step.kind).usual) text.append(":").append(shortest(step.parameter));
    }
    return text;
}

TransformSpec parse_transform(std::string_view option, std::string_view text) {
    const auto refuse = [&](const std::string& why) {
        throw UsageError(std::string(option) + " " + std::string(text) + ": " + why);
    };
    const auto steps = static_cast<std::size_t>(std::ranges::count(text, ',')) + 1;
    if (steps > max_transform_steps)  // the text is too long to be repeated
        throw UsageError(std::string(option) + ": has " + with_commas(static_cast<std::int64_t>(steps)) +
                         " transforms; expected at most " + std::to_string(max_transform_steps));
    TransformSpec spec;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const TransformStep step = parse_step(text.substr(begin, end - begin), refuse);
        begin = end + 1;
        if (step.kind == raw) continue;
        if (spec.makes_reals())
            refuse(std::string("nothing follows ") + name(spec.steps.back().kind) +
                   ", which makes float64; expected " + name(spec.steps.back().kind) + " last");
        if (!spec.steps.empty() && !info(spec.steps.back().kind).makes_image &&
            !info(step.kind).takes_features)
            refuse(std::string(name(step.kind)) + " needs an image, and " + name(spec.steps.back().kind) +
                   " makes none; expected it before that");
        spec.steps.push_back(step);
    }
    return spec;
}

std::int64_t output_dim(const TransformSpec& spec, ImageShape image) {
    std::int64_t dim = image.dim();
    for (const TransformStep& step : spec.steps)
        dim = dim_after(step, image, dim);
    return dim;
}

UnsupportedReason refuse_transform(const TransformSpec& spec, ImageShape image, std::int64_t n_train) {
    std::int64_t dim = image.dim();
    for (const TransformStep& step : spec.steps) {
        const std::int64_t before = dim;
        dim = dim_after(step, image, dim);
        const std::string start = "transform " + std::string(name(step.kind)) + ": ";
        const std::int64_t most = info(step.kind).makes_reals ? max_columns : max_dim;
        if (dim > most)
            return start + with_commas(dim) + " features of " + image.text() +
                   " pixels are too many; expected at most " + with_commas(most);
        if (step.kind != pca) continue;
        if (before > max_pca_dim)
            return start + "rows of " + with_commas(before) + " bytes are too long; expected at most " +
                   with_commas(max_pca_dim);
        const std::int64_t limit = std::min(before, n_train);
        if (dim > limit)
            return start + std::to_string(dim) + " components of " + with_commas(n_train) + " images of " +
                   std::to_string(before) + " bytes; expected 1 to " + std::to_string(limit);
    }
    return std::nullopt;
}

}  // namespace knn
