#include "app/report/audit_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/report/json.h"
#include "app/report/lines.h"
#include "app/report/sheet.h"
#include "app/report/text.h"
#include "data/core/format.h"
#include "data/core/words.h"
#include "version.h"

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
    Json neighbors = Json::array();
    const auto row = report.audit.neighbors.row(one.index);
    const auto k = std::min(row.size(), static_cast<std::size_t>(report.method.vote.k));
    for (const Neighbor& neighbor : row.first(k))
        neighbors.push_back(
            {{"index", neighbor.index},
             {"label", report.train_labels[neighbor.index]},
             {"distance", distance_json(report.method.neighbor_measure(), neighbor.distance)}});
    return {{"index", one.index},
            {"label", one.label},
            {"suggested", one.suggested},
            {"probability", rounded(one.probability)},
            {"neighbors", std::move(neighbors)}};
}

}  // namespace

std::string judged_text(const AuditReport& report) {
    const std::int64_t n = std::ssize(report.audit.images);
    const bool by_others = report.judged == report.train;
    return with_commas(n) + (by_others ? " training " : " test ") + noun(n, "image") + " of " +
           harmless(report.source) + ", judged by " +
           (by_others ? "the others"
                      : with_commas(std::ssize(report.train_labels)) + " training " +
                            noun(std::ssize(report.train_labels), "image"));
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
    head.add({"probably wrong", with_commas(above(audit, 0.5)) + ' ' + noun(above(audit, 0.5), "label") +
                                    ", " + with_commas(above(audit, 0.9)) + " above 90 %, " +
                                    with_commas(above(audit, 0.99)) + " above 99 %"});
    if (const std::int64_t n = std::ssize(report.planted); n > 0)
        head.add({"planted", with_commas(n) + " wrong " + noun(n, "label") + ": " +
                                 with_commas(report.planted_among(n)) + " among the first " + with_commas(n) +
                                 ", " + with_commas(report.planted_among(n + n / 2)) + " among the first " +
                                 with_commas(n + n / 2)});
    head.add({"time", "search " + fixed(audit.search_ms, 1) + " ms, load " + fixed(report.load_ms, 1) +
                          " ms, whole run " + fixed(report.wall_ms, 1) + " ms"});
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
    Json json = {{"schema", "mnist-knn/audit/1"},
                 {"program", {{"name", "mnist-knn"}, {"version", program_version}}},
                 {"created", report.created},
                 {"dataset",
                  {{"source", report.source},
                   {"set", report.set},
                   {"train", report.train_labels.size()},
                   {"judged", report.audit.images.size()}}},
                 {"settings", settings_json(report.method, report.audit.plan)},
                 {"device", json_device(report.audit.plan.device)},
                 {"slope", report.audit.slope},
                 {"images", std::move(images)}};
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

}  // namespace knn
