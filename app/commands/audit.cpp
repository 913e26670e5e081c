#include "classifier/audit.h"

#include <memory>
#include <ostream>

#include "app/cli/command.h"
#include "app/commands/loading.h"
#include "app/commands/outputs.h"
#include "app/commands/ranks.h"
#include "app/console/destinations.h"
#include "app/console/output.h"
#include "app/console/watched.h"
#include "app/report/audit_report.h"
#include "app/report/picture.h"
#include "data/core/clock.h"
#include "data/core/format.h"

namespace knn {

namespace {

/// The first labels, some of which may be planted.
std::vector<std::uint8_t> first_labels(const LabeledImages& images, std::int64_t count) {
    return {images.labels.data(), images.labels.data() + count};
}

void write_files(const AuditReport& report, const Options& options) {
    const AuditOptions& audit = options.audit;
    write_results({{audit.csv, [&](std::ostream& out) { write_audit_csv(out, report, audit.limit); }},
                   {options.output.json, [&](std::ostream& out) { out << audit_json(report, audit.limit); }},
                   {audit.html, [&](std::ostream& out) { out << audit_page(report, audit.limit); }},
                   {audit.sheet, [&](std::ostream& out) { put(out, audit_sheet(report, audit.limit)); }}},
                  options.output.quiet ? "" : audit_text(report, audit.limit));
}

}  // namespace

int audit(const Options& options, Clock::time_point start) {
    const AuditSet of = options.audit.of;
    const Destinations outputs(options);
    if (const std::string& sheet = options.audit.sheet; !sheet.empty() && !pictures_available())
        throw UsageError("--sheet " + sheet + ": this build cannot draw pictures; expected --html");
    Planner planner(options.wish);  // looks for GPUs in the background
    const ImagesLocation location =
        locate_images(options, of == AuditSet::train ? Needed::training : Needed::both);
    outputs.check(inputs_of(options, location.files()));

    LoadedSet set(planner, location, options);
    const Rows &train = set.training().images(), &test = set.queries();
    std::vector<std::uint8_t> train_labels = first_labels(set.data().train, train.count),
                              test_labels = first_labels(set.data().test, test.count);
    AuditReport report;
    if (options.audit.plant > 0)
        report.planted = plant_wrong_labels(of == AuditSet::train ? train_labels : test_labels,
                                            options.audit.plant, options.audit.seed);
    const TrainingSet training({train, train_labels, set.training().shape()});

    const Method wide = audit_method(options.method, train.count);
    const Resolved resolved = set.resolve(planner, wide, std::max(train.count, test.count));
    report.load_ms = set.load_ms();
    report.method = options.method;
    report.method.vote.k = std::min(report.method.vote.k, wide.vote.k);
    report.train = &set.data().train;
    report.judged = of == AuditSet::train ? &set.data().train : &set.data().test;
    report.set = name(of);
    report.train_labels = train_labels;
    report.source = location.data.source;
    report.created = utc_now();
    agree_on({train, test}, train_labels);
    report.audit = watched(options.output, "searching", [&](const Watch& watch) {
        return audit(Index(training, wide, resolved, watch.quiet()), options.method, test, test_labels,
                     watch);
    });
    report.wall_ms = ms_since(start);
    write_files(report, options);
    return 0;
}

}  // namespace knn
