#include "app/commands/outputs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <ostream>
#include <vector>

#include "app/console/attempts.h"
#include "app/console/interrupt.h"
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

using Writer = std::function<void(std::ostream&)>;

bool standard_output_is_taken(const OutputOptions& output) {
    const std::string* const files[] = {&output.json, &output.predictions, &output.neighbors_csv};
    return std::any_of(std::begin(files), std::end(files),
                       [](const std::string* file) { return !file->empty() && is_standard_output(*file); });
}

void make_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw DataError(folder + ": cannot be made: " + error.message() + "; expected a folder");
}

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

}  // namespace

Destinations destinations(const OutputOptions& output) {
    Destinations all;
    all.add("--json", output.json);
    all.add("--predictions", output.predictions);
    all.add("--neighbors-csv", output.neighbors_csv);
    all.add_folder("--report", output.report, report_files);
    return all;
}

void write_outputs(const Evaluation& evaluation, const OutputOptions& output) {
    const Writer json = [&](std::ostream& out) { out << json_report(evaluation); };
    const Writer predictions = [&](std::ostream& out) { write_predictions_csv(out, evaluation); };
    const Writer neighbors = [&](std::ostream& out) { write_neighbors_csv(out, evaluation); };
    Attempts attempt;
    const auto write = [&](const std::string& file, const Writer& writer) {
        if (!file.empty()) attempt([&] { write_output(file, writer); });
    };
    if (!standard_output_is_taken(output))
        attempt([&] {
            print(output.quiet ? accuracy_line(evaluation.score)
                               : text_report(evaluation, use_color(output.color)));
        });
    write(output.json, json);
    write(output.predictions, predictions);
    write(output.neighbors_csv, neighbors);
    if (!output.report.empty()) {
        const fs::path folder = output.report;
        attempt([&] {
            make_folder(output.report);
            write_outputs_together(files_of_report(evaluation, folder, output.quiet));
        });
    }
    attempt.finish();
}

}  // namespace knn
