#include "classifier/features.h"

#include <cstring>
#include <string>

#include "cpu/transform/transform.h"
#include "data/core/errors.h"

namespace knn {

namespace {

using Piece = std::span<const std::uint8_t>;

/// Changes with the definition of any transform or of this file.
constexpr const char* edition = " features 2";

/// The head of a projection in the cache; its weights and centers follow.
struct ProjectionHead {
    std::int64_t n_out, dim, scale;
};

template <class T>
Piece bytes_of(const T* values, std::size_t n) {
    return {reinterpret_cast<const std::uint8_t*>(values), n * sizeof(T)};
}

/// Copies values from the front of `bytes`. False if there are too few.
template <class T>
bool take(Piece& bytes, T* to, std::size_t n) {
    if (bytes.size() < n * sizeof(T)) return false;
    std::memcpy(to, bytes.data(), n * sizeof(T));
    bytes = bytes.subspan(n * sizeof(T));
    return true;
}

bool take_projection(Piece& bytes, std::int64_t n_out, std::int64_t dim, Projection& projection) {
    ProjectionHead head{};
    if (!take(bytes, &head, 1) || head.n_out != n_out || head.dim != dim) return false;
    projection = {.n_out = n_out, .dim = dim, .weights = {}, .centers = {}, .scale = head.scale};
    projection.weights.resize(static_cast<std::size_t>(n_out * dim));
    projection.centers.resize(static_cast<std::size_t>(n_out));
    return take(bytes, projection.weights.data(), projection.weights.size()) &&
           take(bytes, projection.centers.data(), projection.centers.size());
}

void keep(const Features& features, const std::string& file, const std::string& key) {
    std::vector<ProjectionHead> heads;
    heads.reserve(features.transform.steps.size());
    std::vector<Piece> pieces;
    for (const FittedStep& step : features.transform.steps)
        if (const auto* projection = std::get_if<Projection>(&step.what)) {
            heads.push_back({projection->n_out, projection->dim, projection->scale});
            pieces.push_back(bytes_of(&heads.back(), 1));
            pieces.push_back(bytes_of(projection->weights.data(), projection->weights.size()));
            pieces.push_back(bytes_of(projection->centers.data(), projection->centers.size()));
        }
    pieces.push_back(features.made);
    write_cached(file, key, pieces);
}

}  // namespace

bool restore_features(CachedBytes mapped, const TransformSpec& spec, ImageShape shape, std::int64_t count,
                      Features& features) {
    Piece bytes = mapped.span();
    features.transform = {.spec = {}, .image = shape, .steps = {}};
    for (const TransformStep& step : spec.steps) {
        Projection projection;
        if (step.kind == TransformKind::pca &&
            !take_projection(bytes, static_cast<std::int64_t>(step.parameter), features.transform.dim_out(),
                             projection))
            return false;
        append_step(features.transform, step, std::move(projection));
    }
    const std::int64_t dim = features.transform.dim_out();
    if (static_cast<std::int64_t>(bytes.size()) != count * dim) return false;
    features.rows = {bytes.data(), count, dim};
    features.mapped = std::move(mapped);
    return true;
}

Features load_features(const TrainingSet& set, const Rows& train, const TransformSpec& spec, bool use_cache,
                       int threads, const std::atomic<bool>* stop) {
    Features features;
    const ImageShape shape{set.rows, set.cols};
    features.transform.image = shape;
    features.rows = train;
    if (spec.is_raw()) return features;
    if (const Refusal why = refuse_transform(spec, shape, train.count)) throw UsageError(*why);
    const std::string what = spec.text() + " of " + std::to_string(train.count);
    const std::string file = "features-" + set.name + "-" + std::to_string(std::hash<std::string>()(what));
    const std::string key = set.key + what + edition;
    const bool keeps = use_cache && !set.key.empty();
    if (keeps)
        if (auto bytes = read_cached(file, key, threads);
            bytes && restore_features(std::move(*bytes), spec, shape, train.count, features))
            return features;
    features.transform = cpu::fit(spec, train, shape, threads, stop);
    features.made = cpu::features(features.transform, train, threads, stop);
    features.rows = {features.made.data(), train.count, features.transform.dim_out()};
    if (keeps) keep(features, file, key);
    return features;
}

}  // namespace knn
