#include "app/report/report_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <ostream>

#include "app/cli/values.h"
#include "app/console/console.h"
#include "app/report/csv.h"
#include "app/report/json.h"
#include "app/report/json_part.h"
#include "app/report/page.h"
#include "app/report/text.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/core/problem.h"
#include "data/file/transfer.h"
#include "data/set/idx.h"
#include "data/set/locate.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

constexpr const char* schema = "mnist-knn/evaluate/1";
const std::string expected_report = "a report.json of 'mnist-knn evaluate'";

std::filesystem::path read_path(const JsonPart& part) {
    std::filesystem::path path = path_in_report(part.text());
    if (path.native().find('\0') != std::string::npos) part.wrong("a name with a zero byte");
    return path;
}

Method read_method(const JsonPart& part) {
    Method method;
    const auto parse = [&](const char* key, const auto& read) {
        if (!part.has(key)) return;
        const std::string text = part.at(key).text();
        try {
            read(text);
        } catch (const UsageError&) {
            part.at(key).wrong("'" + text + "', which is unknown");
        }
    };
    parse("transform", [&](const auto& text) { method.transform = parse_transform("transform", text); });
    parse("rerank", [&](const auto& text) { read_reranker("rerank", text, method.rerank); });
    if (part.has("candidates"))
        method.rerank.candidates = static_cast<int>(
            part.at("candidates").whole(min_candidates, method.reranks() ? max_candidates : max_k));
    if (part.has("vote")) method.vote.votes = part.at("vote").named_value<VoteKind>();
    method.vote.k = static_cast<int>(part.at("k").whole(1, max_k));
    method.measure.metric = part.at("metric").named_value<Metric>();
    if (method.measure.metric == Metric::lp) {
        method.measure.p = part.at("p").number();
        if (!(method.measure.p >= min_p && method.measure.p <= max_p)) part.at("p").wrong("out of range");
    }
    method.vote.weights = part.at("weights").named_value<Weights>();
    method.vote.tie = part.at("tie").named_value<Tie>();
    return method;
}

Plan read_plan(const JsonPart& settings, const JsonPart& part) {
    Plan plan;
    plan.engine = settings.at("engine").text();
    plan.distance = settings.at("distance").text();
    plan.select = settings.at("select").text();
    Device& device = plan.device;
    device.name = part.at("name").text();
    device.kind = part.at("kind").named_value<Device::Kind>();
    device.compute_capability = part.text_or_none("compute_capability");
    device.memory_bytes = part.has("memory_bytes") ? part.at("memory_bytes").whole(0, any_whole) : 0;
    device.driver = part.text_or_none("driver");
    device.runtime = part.text_or_none("runtime");
    const std::string id = settings.at("device").text();
    if (device.kind == Device::Kind::gpu && id.starts_with("gpu:"))
        std::from_chars(id.data() + 4, id.data() + id.size(), device.number);
    if (id != device_id(device)) settings.at("device").wrong("another device than the report's");
    plan.threads = static_cast<int>(settings.at("threads").whole(0, 1 << 20));
    if (settings.has("sketch")) plan.sketch = settings.at("sketch").named_value<SketchColumns>();
    plan.batch = settings.at("batch").whole(0, any_whole);
    if (settings.has("ranks")) plan.ranks = static_cast<int>(settings.at("ranks").whole(1, 1 << 20));
    if (settings.has("spread")) plan.placement = settings.at("spread").named_value<Placement>();
    if (settings.has("memory")) plan.memory = settings.at("memory").whole(0, any_whole);
    return plan;
}

void read_timing(const JsonPart& part, Evaluation& evaluation) {
    evaluation.found.search_ms = part.at("search_ms").number();
    evaluation.load_ms = part.at("load_ms").number();
    evaluation.wall_ms = part.at("wall_ms").number();
    for (const JsonPart& one : part.at("stages").items()) {
        Stage stage;
        stage.name = one.at("name").text();
        stage.launches = one.at("launches").whole(0, any_whole);
        stage.total_ms = one.at("total_ms").number();
        stage.bytes = one.has("bytes") ? one.at("bytes").number() : 0;
        if (one.has("gflop_per_s")) stage.operations = one.at("gflop_per_s").number() * 1e6 * stage.total_ms;
        if (one.has("kind")) stage.kind = one.at("kind").named_value<StageKind>();
        evaluation.found.timeline.add(stage);
    }
    if (!part.has("devices_ms")) return;
    std::vector<double> devices_ms;
    for (const JsonPart& ms : part.at("devices_ms").items())
        devices_ms.push_back(ms.number());
    evaluation.found.timeline.add_device_ms(devices_ms);
}

/// Labels and confusion matrix; the sums must match the report's.
void read_result(const JsonPart& part, Evaluation& evaluation) {
    Score& score = evaluation.score;
    const std::vector<JsonPart> labels = part.at("labels").items();
    for (const JsonPart& label : labels) {
        if (labels.front().is_text()) {  // names, each once
            if (score.classes.size() == 256) label.wrong("one class too many");
            score.labels.push_back(static_cast<std::uint8_t>(score.classes.size()));
            score.classes.push_back(label.text());
            if (std::ranges::count(score.classes, score.classes.back()) > 1) label.wrong("there twice");
            continue;
        }
        const std::int64_t number = label.whole(0, 255);
        if (!score.labels.empty() && number <= score.labels.back()) label.wrong("not above the one before");
        score.labels.push_back(static_cast<std::uint8_t>(number));
    }
    const JsonPart confusion = part.at("confusion");
    for (const JsonPart& row : confusion.items()) {
        std::vector<std::int64_t>& counts = score.confusion.emplace_back();
        for (const JsonPart& count : row.items())
            counts.push_back(
                count.whole(0, any_whole / 65536));  // so that no sum of 256 × 256 of them overflows
        if (counts.size() != score.labels.size()) row.wrong("not one count for each label");
    }
    if (score.confusion.size() != score.labels.size()) confusion.wrong("not one row for each label");
    std::int64_t sum = 0, hits = 0;
    for (std::size_t c = 0; c < score.labels.size(); ++c) {
        sum = std::accumulate(score.confusion[c].begin(), score.confusion[c].end(), sum);
        hits += score.confusion[c][c];
    }
    if (part.has("calibration")) evaluation.calibrated = part.at("calibration").at("fitted").yes();
    score.total = part.at("total").whole(0, any_whole);
    score.correct = part.at("correct").whole(0, score.total);
    if (sum != score.total || sum != evaluation.n_test || hits != score.correct)
        confusion.wrong("inconsistent with the number of test images or of correct ones");
}

}  // namespace

SavedReport read_report(const std::string& file) {
    if (file.empty()) throw UsageError("'': empty; expected the name of a report");
    std::error_code none;
    std::string name = file;
    if (file != "-" && fs::is_directory(file, none)) {
        name = (fs::path(file) / "report.json").string();
        if (is_no_file(name)) JsonSource{name, expected_report}.fail("is no regular file");
    }
    constexpr std::size_t max_bytes = 64 << 20;  // a report of 256 classes has about half a megabyte
    const std::string text = read_text(name, max_bytes, expected_report);
    if (name == "-") name = "standard input";
    return parse_report(text, name);
}

SavedReport read_image_report(const std::string& file) {
    SavedReport report = read_report(file);
    if (!report.type.empty())
        throw DataError(report.file + ": is of rows of " + counted(report.cols, "column") +
                        ", not images; expected a report of images");
    return report;
}

SavedReport parse_report(std::string_view text, const std::string& name) {
    const JsonSource source{name, expected_report};
    const nlohmann::json root = source.parse(text);
    const JsonPart part(source, root);
    part.check_schema(schema);
    const JsonPart dataset = part.at("dataset");
    SavedReport report;
    report.file = name;
    report.data.source = dataset.has("files")
                             ? read_path(dataset.at("source")).string()
                             : dataset.at("source").text();  // older versions wrote it as it is
    report.data.synthetic = dataset.at("synthetic").yes();
    Evaluation& evaluation = report.evaluation;
    evaluation.n_train = dataset.at("train").whole(1, any_whole);
    evaluation.n_test = dataset.at("test").whole(0, any_whole);
    if (dataset.has("pictures")) {
        const JsonPart pictures = dataset.at("pictures");
        for (const JsonPart& file : pictures.items())
            evaluation.pictures.push_back(read_path(file).string());
        if (std::ssize(evaluation.pictures) != evaluation.n_test)
            pictures.wrong("not one name for each test image");
        evaluation.n_named = dataset.at("named").whole(evaluation.n_test, any_whole);
    }
    if (dataset.has("files")) {
        const JsonPart files = dataset.at("files");
        for (const JsonPart& file : files.items())
            report.data.files.emplace_back(read_path(file));
        const std::size_t expected = report.of_pictures() ? 2 : mnist_files.size();
        if (!report.data.files.empty() && report.data.files.size() != expected)
            files.wrong("not " + std::to_string(expected) + " files");
    }
    if (dataset.has("extra")) {
        const JsonPart extra = dataset.at("extra");
        report.n_extra = extra.at("images").whole(1, evaluation.n_train);
        for (const JsonPart& file : extra.at("files").items())
            report.data.extra.emplace_back(read_path(file));
        if (report.data.extra.size() != 2) extra.at("files").wrong("not 2 files");
    }
    report.test_checksum = dataset.text_or_none("test_checksum");
    const bool images = !dataset.has("columns");
    report.rows = images ? static_cast<int>(dataset.at("rows").whole(1, max_dim)) : 1;
    report.cols = static_cast<int>(dataset.at(images ? "cols" : "columns").whole(1, max_dim));
    if (!images) report.type = knn::name(dataset.at("type").named_value<ElementType>());
    report.data.vectors = dataset.has("vectors") && dataset.at("vectors").yes();
    report.data.label_column = dataset.text_or_none("label_column");
    evaluation.created = part.at("created").text();
    evaluation.method = read_method(part.at("settings"));
    if (evaluation.method.vote.k > evaluation.n_train)
        part.at("settings").at("k").wrong("more than the training set has");
    evaluation.found.plan = read_plan(part.at("settings"), part.at("device"));
    read_result(part.at("result"), evaluation);
    read_timing(part.at("timing"), evaluation);
    return report;
}

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
        files.push_back({name(2)});
    }
    add(3, html_page(evaluation, misclassified(evaluation)));
    if (!evaluation.pictures.empty()) {
        const LabeledImages& images = evaluation.data->test;
        files.push_back({name(4), [&images](std::ostream& out) { write_idx_images(out, images); }});
        files.push_back({name(5), [&images](std::ostream& out) { write_idx_labels(out, images); }});
    } else {
        files.insert(files.end(), {{name(4)}, {name(5)}});
    }
    return files;
}

}  // namespace knn
