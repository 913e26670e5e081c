#include "classifier/audit.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/command_line.h"
#include "app/commands/loading.h"
#include "app/commands/ranks.h"
#include "app/console/console.h"
#include "app/report/csv.h"
#include "app/report/json.h"
#include "app/report/page.h"
#include "app/report/text.h"
#include "data/core/format.h"
#include "data/vectors/sets.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t usual_in_text = 20, usual_in_json = 1000, usual_in_page = 500;

constexpr const char* assumption =
    "assumes that a label and the one suggested are equally likely beforehand; of labels that were checked, "
    "fewer are wrong";

struct AuditReport {
    const LoadedSet& set;
    const AuditOptions& options;
    Method method;
    std::span<const std::uint8_t> train_labels;  ///< as they were searched: some may be planted
    std::vector<std::int64_t> planted;           ///< by index
    Audit audit = {};
    std::string created = utc_now();
    double wall_ms = 0;

    const Dataset& data() const { return set.data(); }
    bool by_others() const { return options.of == AuditSet::train; }
    const LabeledImages& judged() const { return by_others() ? data().train : data().test; }
    /// `usual`: how many there are in this form of the report without --limit.
    std::span<const Suspicion> first(std::int64_t usual) const {
        const std::int64_t count =
            std::min(options.limit > 0 ? options.limit : usual, std::ssize(audit.images));
        return std::span(audit.images).first(static_cast<std::size_t>(count));
    }
    /// Of how many images another class is nearer than the label's.
    std::int64_t contradicted() const {
        return std::ranges::count_if(audit.images, [](auto& one) { return one.suggested != one.label; });
    }
    std::span<const Neighbor> nearest(const Suspicion& one, std::int64_t count) const {
        const auto row = audit.neighbors.row(one.index);
        return row.first(std::min(row.size(), static_cast<std::size_t>(count)));
    }
};

/// "60,000 training images of data/mnist, judged by the others".
std::string judged_text(const AuditReport& report) {
    const bool by_others = report.by_others();
    const std::string rows = row_noun(report.data());
    return counted(std::ssize(report.audit.images), (by_others ? "training " : "test ") + rows) + " of " +
           harmless(report.data().source) + ", judged by " +
           (by_others ? "the others" : counted(std::ssize(report.train_labels), "training " + rows));
}

/// "220 contradicted by their neighbors, 89 with a probability above 90 %, 38 above 99 %".
std::string contradicted_text(const AuditReport& report) {
    const auto above = [&](double probability) {
        return with_commas(std::ranges::count_if(report.audit.images,
                                                 [&](auto& one) { return one.probability > probability; }));
    };
    const std::int64_t n = report.contradicted();
    return with_commas(n) + " contradicted by " + (n == 1 ? "its" : "their") + " neighbors, " + above(0.9) +
           " with a probability above 90 %, " + above(0.99) + " above 99 %";
}

/// How many of the planted labels are among the first images; empty if there are none.
std::string planted_text(const AuditReport& report) {
    const std::int64_t n = std::ssize(report.planted);
    if (n == 0) return "";
    const auto among_the_first = [&](std::int64_t count) {
        const auto first = std::span(report.audit.images)
                               .first(std::min(static_cast<std::size_t>(count), report.audit.images.size()));
        const auto found = std::ranges::count_if(
            first, [&](auto& one) { return std::ranges::binary_search(report.planted, one.index); });
        return with_commas(found) + " among the first " + with_commas(count);
    };
    return counted(n, "wrong label") + ": " + among_the_first(n) + ", " + among_the_first(n + n / 2);
}

std::string audit_text(const AuditReport& report) {
    Table list(std::vector<Align>(4, Align::right));
    list.add({"index", "label", "suggested", "probability"});
    for (const Suspicion& one : report.first(usual_in_text))
        list.add({std::to_string(one.index), class_text(report.data().class_name(one.label)),
                  class_text(report.data().class_name(one.suggested)), percent(one.probability)});
    const std::int64_t more = report.contradicted() - std::ssize(report.first(usual_in_text));
    return facts_text({{"data", judged_text(report)},
                       {"settings", settings_text(report.method)},
                       {"labels", contradicted_text(report)},
                       {"probability", std::string("that a label is wrong; it ") + assumption},
                       {"planted", planted_text(report)},
                       {"time", times_text(report.audit.search_ms, report.set.load_ms(), report.wall_ms)}}) +
           '\n' + list.text() + (more > 0 ? "... and " + with_commas(more) + " more (--limit, --csv)\n" : "");
}

void write_csv(std::ostream& out, const AuditReport& report) {
    const std::vector<std::string> names = class_cells(report.data());
    Lines lines(out);
    lines.row("set,index,label,suggested,probability");
    for (const Suspicion& one : report.first(std::ssize(report.audit.images)))
        if (!lines.row(name(report.options.of), one.index, names[one.label], names[one.suggested],
                       fixed(one.probability, 6)))
            return;
}

std::string audit_json(const AuditReport& report) {
    Json images = Json::array();
    for (const Suspicion& one : report.first(usual_in_json))
        images.push_back(
            {{"index", one.index},
             {"label", label_json(one.label, report.data().classes)},
             {"suggested", label_json(one.suggested, report.data().classes)},
             {"probability", std::stod(fixed(one.probability, 6))},  // as in the CSV
             {"neighbors",
              neighbors_json(report.nearest(one, report.method.vote.k), report.train_labels.data(),
                             report.method.neighbor_measure(), report.data().classes)}});
    Json json = json_head("mnist-knn/audit/1");
    json.update({{"created", report.created},
                 {"dataset",
                  {{"source", report_path(report.data().source)},
                   {"set", name(report.options.of)},
                   {"train", report.train_labels.size()},
                   {"judged", report.audit.images.size()}}},
                 {"settings", settings_json(report.method, report.audit.plan)},
                 {"device", json_device(report.audit.plan.device)},
                 {"slope", report.audit.slope},
                 {"images", std::move(images)}});
    if (!report.planted.empty()) json["planted"] = report.planted;
    return json_text(json);
}

std::vector<std::uint8_t> audit_sheet(const AuditReport& report) {
    Sheet sheet{.title = "Suspicious labels",
                .words = "",
                .legend = "label, what the neighbors suggest, index, probability that the label is wrong",
                .data = report.data(),
                .images = report.judged()};
    for (const Suspicion& one : report.first(usual_in_text))
        if (std::ssize(sheet.digits) < sheet_digits)
            sheet.digits.push_back({one.index, one.label, one.suggested, one.probability});
    sheet.words = counted_of(std::ssize(sheet.digits), std::ssize(report.audit.images),
                             report.by_others() ? "training image" : "test image") +
                  ", " + short_method_text(report.method) + ", of " + report.data().source;
    return sheet_png(sheet);
}

PageDigits page_digits(const AuditReport& report, std::span<const Suspicion> shown) {
    const std::int64_t capacity = page_capacity(report.data().train.dim(), max_page_neighbors);
    std::vector<PageDigit> digits;
    for (const Suspicion& one : shown) {
        if (std::ssize(digits) == capacity) break;
        const auto nearest = report.nearest(one, max_page_neighbors);
        digits.push_back({one.index, one.label, one.suggested, one.probability,
                          vote_shares(nearest, report.train_labels.data(), Weights::uniform, {}), nearest});
    }
    return {"The most suspicious labels",
            "confidence",
            std::ssize(report.audit.images),
            std::move(digits),
            report.data(),
            report.judged(),
            report.train_labels.data(),
            report.method};
}

/// One self-contained page in the style of the report's, with each image, its label and its neighbors.
std::string audit_page(const AuditReport& report) {
    const Audit& audit = report.audit;
    const LabeledImages& train = report.data().train;
    const auto shown = report.first(usual_in_page);
    const PageDigits digits = page_digits(report, shown);
    const std::int64_t n = report.contradicted();
    nlohmann::json page = {
        {"program", program_json()},
        {"created", report.created},
        {"dataset", {{"name", report.data().source}, {"rows", train.rows}, {"cols", train.cols}}},
        {"settings", settings_json(report.method, audit.plan)},
        {"audit",
         {{"judged", judged_text(report)},
          {"improbable", n},
          {"headline",
           n == 1 ? " label that its neighbors contradict" : " labels that their neighbors contradict"},
          {"probability", assumption},
          {"settings", settings_text(report.method)},
          {"each", audit.each}}},
        {"words",
         {{"image", report.by_others() ? "Training image" : "Test image"},
          {"label", "label"},
          {"other", "suggested"},
          {"share", "probability that the label is wrong"},
          {"order", "most suspicious first"},
          {"votes", "Labels"},
          {"held", digits.digits.size() < shown.size() ? "the most suspicious ones; more do not fit."
                                                       : "the most suspicious ones; --limit takes more."}}}};
    page["settings"]["k"] = std::min<std::int64_t>(max_page_neighbors, audit.neighbors.k);
    if (!report.planted.empty())
        page["audit"]["planted"] = counted(std::ssize(report.planted), "wrong label") + ", as a test";
    return page_text(audit_html, std::move(page), digits);
}

}  // namespace

int audit(const Options& options, Clock::time_point start) {
    const AuditOptions& given = options.audit;
    if (!given.sheet.empty() && !pictures_available())
        throw UsageError("--sheet " + given.sheet + ": this build cannot draw pictures; expected --html");
    const bool of_train = given.of == AuditSet::train;
    LoadedSet set(options, of_train ? Needed::training : Needed::both);
    for (const char* option : {"html", "sheet"})
        if (options.given.contains(option) && !set.data().are_images())
            throw DataError(not_images(set.data()) + " for --" + option);
    const Rows &train = set.training().images(), &test = set.queries();
    std::vector<std::uint8_t> train_labels = first_labels(set.data().train, train.count),
                              test_labels = first_labels(set.data().test, test.count);
    std::vector<std::int64_t> planted;
    if (given.plant > 0)
        planted =
            plant_wrong_labels(of_train ? train_labels : test_labels, given.plant, given.seed.value_or(1));
    const TrainingSet training = of_train && given.plant > 0
                                     ? TrainingSet({train, train_labels, set.training().shape()})
                                     : set.training();

    const Method method = set.method(options.method), wide = audit_method(method, train.count);
    const Resolved resolved = set.resolve(wide, std::max(train.count, test.count));
    if (const auto classes = occurring_labels({train_labels}); classes.size() == 1)
        throw DataError(set.data().source + ": has one class, " + set.data().class_name(classes[0]) +
                        ", which nothing contradicts; expected at least two");
    agree_on(training.view(), test);
    AuditReport report{set, given, method, train_labels, std::move(planted)};
    const std::unique_ptr<Index> index = open_index(training, wide, resolved, options.output);
    report.audit = with_progress(options.output, "searching", [&](const ProgressToken& token) {
        return audit(*index, method, test, test_labels, token);
    });
    report.audit.search_ms += index->open_ms();
    report.wall_ms = ms_since(start);
    write_results({{given.csv, [&](std::ostream& out) { write_csv(out, report); }},
                   {options.output.json, [&](std::ostream& out) { out << audit_json(report); }},
                   {given.html, [&](std::ostream& out) { out << audit_page(report); }},
                   {given.sheet, [&](std::ostream& out) { put(out, audit_sheet(report)); }}},
                  options.output.quiet ? "" : audit_text(report));
    return 0;
}

}  // namespace knn
