#include "app/report/outputs.h"

#include <filesystem>
#include <functional>
#include <map>
#include <ostream>

#include "app/attempts.h"
#include "app/output.h"
#include "app/report/csv.h"
#include "app/report/html.h"
#include "app/report/json.h"
#include "app/report/picture.h"
#include "app/report/text.h"
#include "app/terminal.h"
#include "data/errors.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

using Writer = std::function<void(std::ostream&)>;

bool standard_output_is_taken(const OutputOptions& output) {
    return output.json == "-" || output.predictions == "-" || output.neighbors_csv == "-";
}

void make_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw DataError(folder + ": cannot be made: " + error.message() + "; expected a folder");
}

void write_picture(const fs::path& file, const Evaluation& evaluation, bool quiet) {
    if (!pictures_available()) {
        if (!quiet) print_line_to_stderr("note: " + file.string() + " is left out: this build has no OpenCV");
        return;
    }
    const std::vector<std::uint8_t> png = confusion_png(evaluation);
    write_output(file, [&](std::ostream& out) {
        out.write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
    });
}

}  // namespace

void check_outputs(const OutputOptions& output) {
    std::map<fs::path, const char*> options;  // of the files named so far
    const auto check = [&](const char* option, const std::string& file) {
        if (file.empty()) return;
        const fs::path place = file == "-" ? fs::path(file) : fs::absolute(file).lexically_normal();
        const auto [other, added] = options.emplace(place, option);
        if (!added)
            throw UsageError(std::string(other->second) + " " + file + " and " + option + " " + file +
                             ": the same place; expected two");
        check_output_file(file);
    };
    check("--json", output.json);
    check("--predictions", output.predictions);
    check("--neighbors-csv", output.neighbors_csv);
    if (!output.report.empty()) check_output_folder(output.report);
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
            write_output(folder / "report.json", json);
            write_output(folder / "predictions.csv", predictions);
            write_picture(folder / "confusion.png", evaluation, output.quiet);
            write_output(folder / "index.html", [&](std::ostream& out) { out << html_page(evaluation); });
        });
    }
    attempt.finish();
}

}  // namespace knn
