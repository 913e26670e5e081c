#include "cpu/transform/searcher.h"

#include "cpu/transform/transform.h"
#include "data/core/clock.h"

namespace knn::cpu {

TransformedSearcher::TransformedSearcher(
    const Training& training, int threads,
    const std::function<std::unique_ptr<Searcher>(const Rows&)>& open_rows, Timeline& timeline)
    : transform_(*training.transform),
      images_(training.rows),
      threads_(threads),
      features_(training.features) {
    if (features_.count == 0) {
        made_ = transformed(images_, {}, timeline);
        features_ = {made_.data(), images_.count, transform_.dim_out()};
    }
    inner_ = open_rows(features_);
}

Neighbors TransformedSearcher::search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                                      const Watch& watch) {
    if (queries.pixels == images_.pixels && queries.count == images_.count)
        return inner_->search(features_, k, exclude, timeline, watch);
    const std::vector<std::uint8_t> features = transformed(queries, watch, timeline);
    return inner_->search({features.data(), queries.count, transform_.dim_out()}, k, exclude, timeline,
                          watch);
}

std::vector<std::uint8_t> TransformedSearcher::transformed(const Rows& images, const Watch& watch,
                                                           Timeline& timeline) const {
    const auto start = Clock::now();
    std::vector<std::uint8_t> made = features(transform_, images, threads_, watch.stop);
    timeline.add({.name = "transform",
                  .launches = 1,
                  .total_ms = ms_since(start),
                  .bytes = static_cast<double>(images.count * (images.dim + transform_.dim_out()))});
    return made;
}

}  // namespace knn::cpu
