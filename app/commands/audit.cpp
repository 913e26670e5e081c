#include "classifier/audit.h"

#include <memory>
#include <ostream>

#include "app/cli/command.h"
#include "app/commands/loaded_set.h"
#include "app/commands/outputs.h"
#include "app/commands/ranks.h"
#include "app/console/destinations.h"
#include "app/console/notes.h"
#include "app/console/output.h"
#include "app/console/watched.h"
#include "app/report/audit_report.h"
#include "app/report/picture.h"
#include "data/core/clock.h"
#include "data/core/format.h"
#include "data/synthetic/synthetic.h"

namespace knn {

namespace {

/// The images of an audit, and the labels of both sets, some of which may be planted.
struct Images {
    LabeledImages train, test;
    std::vector<std::uint8_t> train_labels, test_labels;
};

DataLocation located(const Options& options) {
    return options.audit.of == AuditSet::train ? locate_training(options.data) : locate(options.data);
}

Images load_images(const DataLocation& location, AuditSet of, std::pmr::memory_resource* memory) {
    Images images;
    if (of == AuditSet::train && !location.synthetic) {
        images.train = load_training_files(location, memory);
    } else {
        Dataset data = location.synthetic ? synthetic_digits({}, memory) : load(location, memory);
        images.train = std::move(data.train);
        if (of == AuditSet::test) images.test = std::move(data.test);
    }
    return images;
}

/// The labels of the images that the options leave.
std::vector<std::uint8_t> first_labels(const LabeledImages& images, std::int64_t limit) {
    const auto labels = images.labels.span();
    const auto n = limit > 0 ? std::min<std::int64_t>(limit, images.count) : images.count;
    return {labels.begin(), labels.begin() + n};
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
    const DataLocation location = located(options);
    outputs.check(inputs_of(options, location.files()));

    const auto memory = host_memory(planner.likely_engine(), planner.likely_device());
    const auto loading = Clock::now();
    Images images = load_images(location, of, memory->resource());
    images.train_labels = first_labels(images.train, options.first.train);
    images.test_labels = first_labels(images.test, options.first.test);
    AuditReport report;
    if (options.audit.plant > 0)
        report.planted = plant_wrong_labels(of == AuditSet::train ? images.train_labels : images.test_labels,
                                            options.audit.plant, options.audit.seed);
    const Training training{images.train.images().first(std::ssize(images.train_labels)), images.train_labels,
                            images.train.shape()};
    const Rows test = images.test.images().first(std::ssize(images.test_labels));
    report.load_ms = ms_since(loading);
    note(data_notice(location));

    const Method wide = audit_method(options.method, training.rows.count);
    const Resolved resolved =
        planner.resolve(wide.problem(training, std::max(training.rows.count, test.count)));
    if (resolved.engine->on_gpu) memory->pin();
    note(resolved.notice);
    report.method = options.method;
    report.method.vote.k = std::min(report.method.vote.k, wide.vote.k);
    report.train = &images.train;
    report.judged = of == AuditSet::train ? &images.train : &images.test;
    report.set = name(of);
    report.train_labels = images.train_labels;
    report.source = location.source;
    report.created = utc_now();
    agree_on({training.rows, test}, images.train_labels);
    report.audit = watched(options.output, "searching", [&](const Watch& watch) {
        Classifier classifier(training, wide, resolved, watch.quiet());
        return audit(classifier, options.method, test, images.test_labels, watch);
    });
    report.wall_ms = ms_since(start);
    write_files(report, options);
    return 0;
}

}  // namespace knn
