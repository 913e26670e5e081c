#include "app/report/audit_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "app/report/csv.h"
#include "app/report/json.h"
#include "app/report/page.h"
#include "app/report/picture.h"
#include "app/report/text.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t usual_in_text = 20, usual_in_json = 1000;

std::int64_t above(const Audit& audit, double probability) {
    return std::count_if(audit.images.begin(), audit.images.end(),
                         [&](const Suspicion& one) { return one.probability > probability; });
}

/// Six decimals as in the CSV.
double rounded(double probability) {
    return std::stod(fixed(probability, 6));
}

Json image_json(const AuditReport& report, const Suspicion& one) {
    const auto row = report.audit.neighbors.row(one.index);
    const auto k = std::min(row.size(), static_cast<std::size_t>(report.method.vote.k));
    return {{"index", one.index},
            {"label", one.label},
            {"suggested", one.suggested},
            {"probability", rounded(one.probability)},
            {"neighbors",
             neighbors_json(row.first(k), report.train_labels.data(), report.method.neighbor_measure())}};
}

/// Each label's share of the neighbors, the largest first, then the smallest label.
std::vector<VoteShare> label_shares(std::span<const Neighbor> neighbors,
                                    std::span<const std::uint8_t> labels) {
    std::map<int, int> counts;
    for (const Neighbor& neighbor : neighbors)
        ++counts[labels[neighbor.index]];
    std::vector<VoteShare> shares;
    for (const auto& [label, count] : counts)
        shares.push_back({label, count / static_cast<double>(neighbors.size())});
    std::stable_sort(shares.begin(), shares.end(),
                     [](const VoteShare& a, const VoteShare& b) { return a.share > b.share; });
    return shares;
}

nlohmann::json gallery_json(const AuditReport& report, std::int64_t limit, Sprite& sprite) {
    constexpr std::int64_t usual_in_page = 500;
    const PageImages images{*report.judged, *report.train, report.train_labels.data(),
                            report.method.neighbor_measure()};
    const auto capacity = static_cast<std::size_t>(page_capacity(report.train->dim(), max_page_neighbors));
    nlohmann::json digits = nlohmann::json::array();
    for (std::size_t i = 0; i < std::min(report.count(limit, usual_in_page), capacity); ++i) {
        const Suspicion& one = report.audit.images[i];
        const auto row = report.audit.neighbors.row(one.index);
        const auto nearest = row.first(std::min(row.size(), static_cast<std::size_t>(max_page_neighbors)));
        digits.push_back(digit_json({one.index, one.label, one.suggested, one.probability,
                                     label_shares(nearest, report.train_labels), nearest},
                                    images, sprite));
    }
    return {{"title", "The most suspicious labels"},
            {"order", "confidence"},
            {"total", report.audit.images.size()},
            {"distance", distance_name(report.method)},
            {"digits", std::move(digits)}};
}

}  // namespace

std::string judged_text(const AuditReport& report) {
    const std::int64_t n = std::ssize(report.audit.images);
    const bool by_others = report.judged == report.train;
    return counted(n, by_others ? "training image" : "test image") + " of " + harmless(report.source) +
           ", judged by " +
           (by_others ? "the others" : counted(std::ssize(report.train_labels), "training image"));
}

std::size_t AuditReport::count(std::int64_t limit, std::int64_t usual) const {
    return static_cast<std::size_t>(std::min(limit > 0 ? limit : usual, std::ssize(audit.images)));
}

std::int64_t AuditReport::planted_among(std::int64_t n) const {
    const auto first = std::span(audit.images).first(count(n, n));
    return std::count_if(first.begin(), first.end(), [&](const Suspicion& one) {
        return std::binary_search(planted.begin(), planted.end(), one.index);
    });
}

std::string audit_text(const AuditReport& report, std::int64_t limit) {
    const Audit& audit = report.audit;
    Table head({Align::left, Align::left});
    head.add({"data", judged_text(report)});
    head.add({"settings", settings_text(report.method)});
    head.add({"probably wrong", counted(above(audit, 0.5), "label") + ", " + with_commas(above(audit, 0.9)) +
                                    " above 90 %, " + with_commas(above(audit, 0.99)) + " above 99 %"});
    if (const std::int64_t n = std::ssize(report.planted); n > 0)
        head.add({"planted", counted(n, "wrong label") + ": " + with_commas(report.planted_among(n)) +
                                 " among the first " + with_commas(n) + ", " +
                                 with_commas(report.planted_among(n + n / 2)) + " among the first " +
                                 with_commas(n + n / 2)});
    head.add({"time", times_text(audit.search_ms, report.load_ms, report.wall_ms)});
    Table list({Align::right, Align::right, Align::right, Align::right});
    list.add({"index", "label", "suggested", "probability"});
    for (std::size_t i = 0; i < report.count(limit, usual_in_text); ++i) {
        const Suspicion& one = audit.images[i];
        list.add({std::to_string(one.index), std::to_string(one.label), std::to_string(one.suggested),
                  percent(one.probability)});
    }
    return head.text(0) + '\n' + list.text();
}

void write_audit_csv(std::ostream& out, const AuditReport& report, std::int64_t limit) {
    Lines lines(out);
    lines.text("set,index,label,suggested,probability\n");
    const std::span all(report.audit.images);
    for (const Suspicion& one : all.first(report.count(limit, std::ssize(all)))) {
        lines.text(report.set);
        lines.text(",");
        lines.number(one.index, ',');
        lines.number(int{one.label}, ',');
        lines.number(int{one.suggested}, ',');
        lines.text(fixed(one.probability, 6));
        lines.text("\n");
        if (!lines.end_of_line()) return;
    }
}

std::string audit_json(const AuditReport& report, std::int64_t limit) {
    Json images = Json::array();
    for (std::size_t i = 0; i < report.count(limit, usual_in_json); ++i)
        images.push_back(image_json(report, report.audit.images[i]));
    Json json = json_head("mnist-knn/audit/1");
    json.update({{"created", report.created},
                 {"dataset",
                  {{"source", report.source},
                   {"set", report.set},
                   {"train", report.train_labels.size()},
                   {"judged", report.audit.images.size()}}},
                 {"settings", settings_json(report.method, report.audit.plan)},
                 {"device", json_device(report.audit.plan.device)},
                 {"slope", report.audit.slope},
                 {"images", std::move(images)}});
    if (!report.planted.empty()) json["planted"] = report.planted;
    return json_text(json);
}

std::vector<std::uint8_t> audit_sheet(const AuditReport& report, std::int64_t limit) {
    const std::size_t count = report.count(std::min(limit, sheet_digits), usual_in_text);
    Sheet sheet{.title = "Suspicious labels",
                .words = "label, what the neighbors suggest, index, probability that the label is wrong.  " +
                         judged_text(report) + ", method " + std::string(name_of(report.method)),
                .rows = report.judged->rows,
                .cols = report.judged->cols,
                .digits = {}};
    for (std::size_t i = 0; i < count; ++i) {
        const Suspicion& one = report.audit.images[i];
        sheet.digits.push_back(
            {report.judged->images().row(one.index), one.label, one.suggested, one.index, one.probability});
    }
    return sheet_png(sheet);
}

std::string audit_page(const AuditReport& report, std::int64_t limit) {
    const Audit& audit = report.audit;
    const bool by_others = report.judged == report.train;
    const auto improbable = std::count_if(audit.images.begin(), audit.images.end(),
                                          [](const Suspicion& one) { return one.suggested != one.label; });
    Sprite sprite(report.train->rows, report.train->cols);
    nlohmann::json page = {
        {"program", program_json()},
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
        {"gallery", gallery_json(report, limit, sprite)}};
    page["settings"]["k"] = std::min<std::int64_t>(max_page_neighbors, audit.neighbors.k);
    if (!report.planted.empty())
        page["audit"]["planted"] = with_commas(std::ssize(report.planted)) + " wrong labels, as a test";
    return page_text(audit_html, audit_js, page, sprite);
}

}  // namespace knn
