#include "data/sketch/sketch.h"

#include <cstring>
#include <optional>
#include <string>

#include "data/core/sha256.h"
#include "data/set/cache.h"

namespace knn {

namespace {

/// Changes with fit_sketch.
constexpr const char* edition = "sketch 1";

/// The bytes of the numbers of a sketch, whose numbers of columns and dimensions are known.
struct Head {
    std::int64_t axes, scale;
    double stretch;
};

std::optional<Sketch> restored(std::span<const std::uint8_t> bytes, std::int64_t columns, std::int64_t dim) {
    Head head{};
    if (bytes.size() < sizeof(head)) return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof(head));
    if (head.axes < 0 || head.axes > columns - spare_columns) return std::nullopt;
    const auto axes = static_cast<std::size_t>(head.axes), weights = axes * static_cast<std::size_t>(dim);
    Sketch sketch{.columns = columns,
                  .dim = dim,
                  .axes = head.axes,
                  .weights = std::vector<std::int16_t>(weights),
                  .centers = std::vector<std::int32_t>(axes),
                  .scale = head.scale,
                  .stretch = head.stretch};
    const std::size_t size = weights * sizeof(std::int16_t);
    if (bytes.size() != sizeof(head) + size + axes * sizeof(std::int32_t)) return std::nullopt;
    std::memcpy(sketch.weights.data(), bytes.data() + sizeof(head), size);
    std::memcpy(sketch.centers.data(), bytes.data() + sizeof(head) + size, axes * sizeof(std::int32_t));
    return sketch;
}

}  // namespace

Sketch cached_fit(const Rows& rows, std::int64_t columns, bool uses_cache, const ProgressToken& token) {
    if (!uses_cache) return fit_sketch(rows, columns, token);
    Sha256 hash;
    const std::int64_t n = rows_to_fit(rows.count, rows.dim);
    for (std::int64_t i = 0; i < n; ++i)
        hash.add(rows.row(i * rows.count / n), static_cast<std::size_t>(rows.dim));
    const std::string digest = hash.hex();
    const std::string key = std::string(edition) + ' ' + std::to_string(columns) + " columns of " +
                            std::to_string(rows.dim) + ' ' + digest;
    const std::string file = "sketch-" + digest.substr(0, 16) + '-' + std::to_string(columns);
    if (const auto cached = read_cached(file, key, 1))
        if (auto sketch = restored(cached->span(), columns, rows.dim)) return std::move(*sketch);
    Sketch sketch = fit_sketch(rows, columns, token);
    const Head head{sketch.axes, sketch.scale, sketch.stretch};
    write_cached(
        file, key,
        std::array{bytes_of(std::span(&head, 1)), bytes_of(sketch.weights), bytes_of(sketch.centers)});
    return sketch;
}

}  // namespace knn
