#include "app/report/page_data.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/report/distance.h"
#include "app/report/json.h"

namespace knn {

namespace {

using nlohmann::json;

constexpr std::int64_t max_digits = 1'000, max_neighbors = 10;
constexpr std::int64_t max_pixels = 12 << 20;  // mobile browsers refuse images above 16 megapixels

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

/// As many as fit in a page, from all pairs of labels in turn, highest confidence of each pair first.
std::vector<std::int64_t> fitting(const Evaluation& evaluation, std::vector<std::int64_t> images) {
    const std::int64_t tiles = 1 + std::min<std::int64_t>(evaluation.found.neighbors.k, max_neighbors);
    const std::int64_t each = tiles * std::max<std::int64_t>(1, evaluation.data->test.dim());
    const std::int64_t capacity = std::clamp<std::int64_t>(max_pixels / each, 1, max_digits);
    if (std::ssize(images) <= capacity) return images;

    const auto& votes = evaluation.found.votes;
    std::stable_sort(images.begin(), images.end(), [&](std::int64_t a, std::int64_t b) {
        return evaluation.confidence[at(a)] > evaluation.confidence[at(b)];
    });
    std::map<std::pair<int, int>, std::int64_t> seen;
    std::vector<std::pair<std::int64_t, std::int64_t>> turns;  // (how many of its pair came before, image)
    for (const std::int64_t image : images) {
        const int truth = evaluation.data->test.labels.data()[image];
        turns.emplace_back(seen[{truth, votes[at(image)].label}]++, image);
    }
    std::stable_sort(turns.begin(), turns.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < at(capacity); ++i)
        images[i] = turns[i].second;
    images.resize(at(capacity));
    return images;
}

json vote_shares_json(const Evaluation& evaluation, std::int64_t image) {
    json shares = json::array();
    for (const auto& [label, share] : vote_shares(evaluation, image))
        shares.push_back({{"label", label}, {"share", share}});
    return shares;
}

json digit_json(const Evaluation& evaluation, std::int64_t image, Sprite& sprite) {
    const LabeledImages &train = evaluation.data->train, &test = evaluation.data->test;
    const Vote& vote = evaluation.found.votes.at(at(image));
    const auto nearest = evaluation.found.neighbors.row(image);
    const Measure measure = evaluation.method.neighbor_measure();
    json neighbors = json::array();
    for (const Neighbor& neighbor : nearest.first(std::min(nearest.size(), at(max_neighbors))))
        neighbors.push_back({{"index", neighbor.index},
                             {"label", train.labels.data()[neighbor.index]},
                             {"distance", distance_json(measure, neighbor.distance)},
                             {"tile", sprite.tile(train, neighbor.index)}});
    return {{"index", image},
            {"label", test.labels.data()[image]},
            {"predicted", vote.label},
            {"confidence", evaluation.confidence.at(at(image))},
            {"tile", sprite.tile(test, image)},
            {"votes", vote_shares_json(evaluation, image)},
            {"neighbors", std::move(neighbors)}};
}

/// Adds the rates that the page shows for a stage and report.json does not have.
void add_rates(json& timing, const Timeline& timeline) {
    for (std::size_t i = 0; i < timeline.stages().size(); ++i) {
        const Stage& stage = timeline.stages()[i];
        timing["stages"][i].update({{"gb_per_s", stage.gb_per_s()},
                                    {"gflop_per_s", stage.gflop_per_s()},
                                    {"transfer", stage.kind == StageKind::copy}});
    }
}

}  // namespace

json page_data(const Evaluation& evaluation, const Gallery& gallery, Sprite& sprite) {
    const Device& device = evaluation.found.plan.device;
    json digits = json::array();
    for (const std::int64_t image : fitting(evaluation, gallery.images))
        digits.push_back(digit_json(evaluation, image, sprite));
    json page = report_object(evaluation);
    page["device"].update({{"peak_gb_per_s", device.peak_gb_per_s},
                           {"peak_gflop_per_s", device.peak_gflop_per_s},
                           {"peak_link_gb_per_s", device.peak_link_gb_per_s}});
    add_rates(page["timing"], evaluation.found.timeline);
    page["gallery"] = {{"title", gallery.title},
                       {"order", gallery.order},
                       {"total", gallery.images.size()},
                       {"distance", distance_name(evaluation.method)},
                       {"digits", std::move(digits)}};
    page["sprite"] = {{"columns", sprite.columns()}};
    return page;
}

}  // namespace knn
