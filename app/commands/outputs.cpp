#include "app/commands/outputs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <ostream>
#include <vector>

#include "app/console/attempts.h"
#include "app/console/interrupt.h"
#include "app/console/new_folder.h"
#include "app/console/output.h"
#include "app/console/terminal.h"
#include "app/report/csv.h"
#include "app/report/html.h"
#include "app/report/json.h"
#include "app/report/picture.h"
#include "app/report/text.h"
#include "data/core/errors.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

constexpr std::array report_files = {"report.json", "predictions.csv", "confusion.png", "index.html"};

/// The files of a report, with all that takes long done before the first is written.
std::vector<OutputFile> files_of_report(const Evaluation& evaluation, const fs::path& folder, bool quiet) {
    std::vector<OutputFile> files;
    const auto add = [&](const char* name, std::string content) {
        files.push_back(
            {folder / name, [content = std::move(content)](std::ostream& out) { out << content; }});
    };
    add(report_files[0], json_report(evaluation));
    files.push_back(
        {folder / report_files[1], [&](std::ostream& out) { write_predictions_csv(out, evaluation); }});
    stop_if_asked();
    if (pictures_available()) {
        const std::vector<std::uint8_t> png = confusion_png(evaluation);
        add(report_files[2], {png.begin(), png.end()});
    } else if (!quiet) {
        print_line_to_stderr("note: " + (folder / report_files[2]).string() +
                             " is left out: this build has no OpenCV");
    }
    stop_if_asked();
    add(report_files[3], html_page(evaluation));
    return files;
}

void write_report(const Evaluation& evaluation, const fs::path& folder, bool quiet) {
    const std::vector<OutputFile> files = files_of_report(evaluation, folder, quiet);
    NewFolder made;
    made.make(folder);
    write_outputs_together(files);
}

/// Writes each file, and what `last` writes. All that succeed are renamed together at the end.
void write_files(std::span<const OutputFile> files, Attempts& attempt, const std::function<void()>& last) {
    if (files.empty()) return attempt(last);
    bool rest_done = false;
    const auto write_rest = [&] {
        rest_done = true;
        write_files(files.subspan(1), attempt, last);
    };
    attempt([&] { write_output(files.front().file, files.front().write, write_rest); });
    if (!rest_done) write_rest();
}

}  // namespace

Destinations destinations(const OutputOptions& output) {
    Destinations all;
    all.add("--json", output.json);
    all.add("--predictions", output.predictions);
    all.add("--neighbors-csv", output.neighbors_csv);
    add_report(all, output);
    return all;
}

std::vector<fs::path> inputs_of(const Options& options, std::vector<fs::path> files) {
    files.insert(files.end(), options.method_files.begin(), options.method_files.end());
    return files;
}

void add_report(Destinations& destinations, const OutputOptions& output) {
    destinations.add_folder("--report", output.report, report_files);
}

void write_report(const Evaluation& evaluation, const OutputOptions& output) {
    write_report(evaluation, fs::path(output.report), output.quiet);
}

void write_outputs(const Evaluation& evaluation, const OutputOptions& output) {
    const std::vector<OutputFile> files =
        asked_for({{output.json, [&](std::ostream& out) { out << json_report(evaluation); }},
                   {output.predictions, [&](std::ostream& out) { write_predictions_csv(out, evaluation); }},
                   {output.neighbors_csv, [&](std::ostream& out) { write_neighbors_csv(out, evaluation); }}});
    Attempts attempt;
    if (!take_standard_output(files))
        attempt([&] {
            print(output.quiet ? accuracy_line(evaluation.score)
                               : text_report(evaluation, use_color(output.color)));
        });
    write_files(files, attempt, [&] {
        if (!output.report.empty()) write_report(evaluation, output.report, output.quiet);
    });
    attempt.finish();
}

}  // namespace knn
