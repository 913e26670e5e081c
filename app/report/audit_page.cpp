#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "app/report/audit_report.h"
#include "app/report/distance.h"
#include "app/report/json.h"
#include "app/report/page_files.h"
#include "app/report/page_text.h"
#include "app/report/text.h"
#include "data/core/format.h"
#include "version.h"

namespace knn {

namespace {

using nlohmann::json;

constexpr std::int64_t usual_images = 500, max_neighbors = 10;
constexpr std::int64_t max_pixels = 12 << 20;  // mobile browsers refuse images above 16 megapixels

/// Each label's share of the neighbors, the largest first, then the smallest label.
json shares_json(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels) {
    std::map<int, int> counts;
    for (const Neighbor& neighbor : neighbors)
        ++counts[labels[neighbor.index]];
    std::vector<std::pair<int, int>> sorted;  // (-count, label)
    for (const auto& [label, count] : counts)
        sorted.emplace_back(-count, label);
    std::sort(sorted.begin(), sorted.end());
    json shares = json::array();
    for (const auto& [count, label] : sorted)
        shares.push_back({{"label", label}, {"share", -count / static_cast<double>(neighbors.size())}});
    return shares;
}

json digit_json(const AuditReport& report, const Suspicion& one, Sprite& sprite) {
    const auto row = report.audit.neighbors.row(one.index);
    const auto nearest = row.first(std::min(row.size(), static_cast<std::size_t>(max_neighbors)));
    json neighbors = json::array();
    for (const Neighbor& neighbor : nearest)
        neighbors.push_back({{"index", neighbor.index},
                             {"label", report.train_labels[neighbor.index]},
                             {"distance", distance_json(report.method.neighbor_measure(), neighbor.distance)},
                             {"tile", sprite.tile(*report.train, neighbor.index)}});
    return {{"index", one.index},
            {"label", one.label},
            {"predicted", one.suggested},
            {"confidence", one.probability},
            {"tile", sprite.tile(*report.judged, one.index)},
            {"votes", shares_json(nearest, report.train_labels)},
            {"neighbors", std::move(neighbors)}};
}

json digits_json(const AuditReport& report, std::int64_t limit, Sprite& sprite) {
    const std::int64_t each = (1 + max_neighbors) * std::max<std::int64_t>(1, report.train->dim());
    const std::size_t count =
        std::min(report.count(limit, usual_images),
                 static_cast<std::size_t>(std::max<std::int64_t>(1, max_pixels / each)));
    json digits = json::array();
    for (std::size_t i = 0; i < count; ++i)
        digits.push_back(digit_json(report, report.audit.images[i], sprite));
    return digits;
}

}  // namespace

std::string audit_page(const AuditReport& report, std::int64_t limit) {
    const Audit& audit = report.audit;
    const bool by_others = report.judged == report.train;
    const auto improbable = std::count_if(audit.images.begin(), audit.images.end(),
                                          [](const Suspicion& one) { return one.suggested != one.label; });
    Sprite sprite(report.train->rows, report.train->cols);
    json digits = digits_json(report, limit, sprite);
    json page = {
        {"program", {{"name", "mnist-knn"}, {"version", program_version}}},
        {"created", report.created},
        {"dataset", {{"name", report.source}, {"rows", report.train->rows}, {"cols", report.train->cols}}},
        {"settings", settings_json(report.method, audit.plan)},
        {"audit",
         {{"judged", judged_text(report)},
          {"improbable", improbable},
          {"settings", settings_text(report.method)},
          {"each", audit.each}}},
        {"words",
         {{"image", by_others ? "Training image" : "Test image"},
          {"label", "label"},
          {"other", "suggested"},
          {"share", "probability that the label is wrong"},
          {"order", "most suspicious first"},
          {"votes", "Labels"},
          {"held", "the most suspicious ones; --limit takes more, and the CSV has all."}}},
        {"gallery",
         {{"title", "The most suspicious labels"},
          {"order", "confidence"},
          {"total", audit.images.size()},
          {"distance", distance_name(report.method)},
          {"digits", std::move(digits)}}},
        {"sprite", {{"columns", sprite.columns()}}}};
    page["settings"]["k"] = std::min<std::int64_t>(max_neighbors, audit.neighbors.k);
    if (!report.planted.empty())
        page["audit"]["planted"] = with_commas(std::ssize(report.planted)) + " wrong labels, as a test";
    return page_text(audit_html, audit_js, page, sprite);
}

}  // namespace knn
