#include "app/commands/outputs.h"

#include <ostream>

#include "app/console/interrupt.h"
#include "app/console/output.h"
#include "app/console/terminal.h"
#include "app/report/csv.h"
#include "app/report/html.h"
#include "app/report/json.h"
#include "app/report/picture.h"
#include "app/report/text.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

/// The files of --report, with all that takes long done before the first is written.
std::vector<OutputFile> files_of_report(const Evaluation& evaluation, const OutputOptions& output) {
    std::vector<OutputFile> files;
    const auto add = [&](const char* name, std::string content) {
        stop_if_asked();
        files.push_back({(fs::path(output.report) / name).string(),
                         [content = std::move(content)](std::ostream& out) { out << content; }});
    };
    add(report_files[0], json_report(evaluation));
    files.push_back({(fs::path(output.report) / report_files[1]).string(),
                     [&](std::ostream& out) { write_predictions_csv(out, evaluation); }});
    if (pictures_available()) {
        const std::vector<std::uint8_t> png = confusion_png(evaluation);
        add(report_files[2], {png.begin(), png.end()});
    } else if (!output.quiet) {
        print_line_to_stderr("note: " + (fs::path(output.report) / report_files[2]).string() +
                             " is left out: this build has no OpenCV");
    }
    add(report_files[3], html_page(evaluation));
    return files;
}

}  // namespace

std::vector<fs::path> inputs_of(const Options& options, std::vector<fs::path> files) {
    files.insert(files.end(), options.method_files.begin(), options.method_files.end());
    return files;
}

void write_report(const Evaluation& evaluation, const OutputOptions& output) {
    write_outputs_together(files_of_report(evaluation, output), output.report);
}

void write_outputs(const Evaluation& evaluation, const OutputOptions& output) {
    std::vector<OutputFile> files = {
        {output.json, [&](std::ostream& out) { out << json_report(evaluation); }},
        {output.predictions, [&](std::ostream& out) { write_predictions_csv(out, evaluation); }},
        {output.neighbors_csv, [&](std::ostream& out) { write_neighbors_csv(out, evaluation); }}};
    if (!output.report.empty())
        for (OutputFile& file : files_of_report(evaluation, output))
            files.push_back(std::move(file));
    const std::string text =
        output.quiet ? accuracy_line(evaluation.score) : text_report(evaluation, use_color(output.color));
    write_results(files, text, output.report);
}

}  // namespace knn
