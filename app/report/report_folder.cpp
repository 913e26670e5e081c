#include "app/report/report_file.h"

#include <filesystem>
#include <ostream>

#include "app/console/console.h"
#include "app/report/csv.h"
#include "app/report/json.h"
#include "app/report/page.h"
#include "app/report/picture.h"
#include "data/set/idx.h"

namespace knn {

std::vector<OutputFile> report_folder(const Evaluation& evaluation, const OutputOptions& output) {
    std::vector<OutputFile> files;
    const auto name = [&](std::size_t file) {
        return (std::filesystem::path(output.report) / report_files[file]).string();
    };
    const auto add = [&](std::size_t file, std::string content) {
        stop_if_asked();
        files.push_back({name(file), [content = std::move(content)](std::ostream& out) { out << content; }});
    };
    add(0, json_report(evaluation));
    files.push_back({name(1), [&](std::ostream& out) { write_predictions_csv(out, evaluation); }});
    if (pictures_available()) {
        const std::vector<std::uint8_t> png = confusion_png(evaluation);
        add(2, {png.begin(), png.end()});
    } else {
        note(name(2) + " is left out: this build has no OpenCV", output);
    }
    add(3, html_page(evaluation, misclassified(evaluation)));
    if (!evaluation.pictures.empty()) {
        const LabeledImages& images = evaluation.data->test;
        files.push_back({name(4), [&images](std::ostream& out) { write_idx_images(out, images); }});
        files.push_back({name(5), [&images](std::ostream& out) { write_idx_labels(out, images); }});
    }
    return files;
}

}  // namespace knn
