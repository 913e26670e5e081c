#include "classifier/spread_fit.h"

#include <algorithm>
#include <array>

#include "classifier/engines.h"
#include "classifier/index.h"
#include "data/core/errors.h"

namespace knn {

namespace {

/// The images of one class, as the training set has them: pixels, or features.
class ClassImages {
  public:
    ClassImages(const Training& training, std::uint8_t label) {
        const bool has_features = training.features.count > 0;
        const Rows& rows = has_features ? training.features : training.rows;
        for (std::int64_t i = 0; i < rows.count; ++i) {
            if (training.labels[static_cast<std::size_t>(i)] != label) continue;
            images.push_back(i);
            bytes_.insert(bytes_.end(), rows.row(i), rows.row(i) + rows.dim);
        }
        alone.rows = {bytes_.data(), std::ssize(images), rows.dim};
        alone.shape = training.shape;
        alone.transform = has_features ? nullptr : training.transform;
    }

    std::vector<std::int64_t> images;
    Training alone;

  private:
    std::vector<std::uint8_t> bytes_;
};

}  // namespace

std::vector<std::int64_t> fitted_spread(const Training& training, const Method& method,
                                        const Resolved& resolved, Timeline& timeline, const Watch& watch) {
    const std::int64_t n = training.rows.count;
    if (std::ssize(training.labels) != n)
        throw UsageError("§rerank spread: needs the images' classes; expected images with labels");
    const ClassSpread& spread = method.rerank.spread;
    std::array<bool, 256> occurs{};
    for (const std::uint8_t label : training.labels)
        occurs[label] = true;
    std::vector<std::optional<ClassDistances>> distances(static_cast<std::size_t>(n));
    std::int64_t done = 0;
    for (std::size_t label = 0; label < occurs.size(); ++label) {
        if (!occurs[label]) continue;
        const ClassImages members(training, static_cast<std::uint8_t>(label));
        const std::int64_t count = members.alone.rows.count;
        const auto k = static_cast<int>(std::min<std::int64_t>(spread.neighbors, count - 1));
        if (k > 0) {
            const auto index = resolved.engine->open(members.alone, method.measure, resolved.plan, timeline);
            const Neighbors nearest =
                nearest_of(*index, Queries::all_of(members.alone.rows), k, timeline, watch.part(done, n));
            for (std::int64_t i = 0; i < count; ++i)
                distances[static_cast<std::size_t>(members.images[static_cast<std::size_t>(i)])] =
                    class_distances(spread.of, nearest.row(i));
        }
        done += count;
    }
    return spread_terms(spread, distances);
}

}  // namespace knn
