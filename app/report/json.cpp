#include "app/report/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "app/report/text.h"
#include "data/core/format.h"
#include "data/core/sha256.h"
#include "data/vectors/vectors.h"
#include "version.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

/// ASCII, safe on a terminal: other characters are escaped, and bytes that are not UTF-8 replaced, since JSON cannot
/// represent them. Names of files have none (`report_path`), messages may.
std::string dump(const Json& value) {
    constexpr bool ascii = true;
    return value.dump(-1, ' ', ascii, Json::error_handler_t::replace);
}

/// A measured number with nine significant digits: more are noise, and 0.1 + 0.2 is printed as 0.3.
double measured(double value) {
    return with_digits(value, 9);
}

void write(std::string& text, const Json& value, std::size_t indent) {
    const bool has_structure = std::ranges::any_of(value, &Json::is_structured);
    const bool spread = value.is_structured() && !value.empty() &&
                        (indent == 0 || has_structure || (value.is_object() && indent <= 2));
    if (!spread) {
        text += dump(value);
        return;
    }
    const std::string margin(indent + 2, ' ');
    text += value.is_object() ? "{" : "[";
    const char* separator = "\n";
    for (const auto& item : value.items()) {
        text += separator + margin;
        if (value.is_object()) text += dump(item.key()) + ": ";
        write(text, item.value(), indent + 2);
        separator = ",\n";
    }
    text += '\n' + std::string(indent, ' ') + (value.is_object() ? "}" : "]");
}

Json calibration_json(const Evaluation& evaluation) {
    const Calibration found = calibration(evaluation.confidence, right_answers(evaluation));
    Json bins = Json::array();
    for (const CalibrationBin& bin : found.bins)
        bins.push_back({{"low", measured(bin.low)},
                        {"high", measured(bin.high)},
                        {"count", bin.count},
                        {"confidence", measured(bin.confidence)},
                        {"accuracy", measured(bin.accuracy)}});
    return {{"fitted", evaluation.calibrated},
            {"expected_calibration_error", measured(found.expected_calibration_error)},
            {"bins", bins}};
}

Json result_json(const Evaluation& evaluation) {
    const Score& score = evaluation.score;
    Json per_class = Json::array(), labels = Json::array();
    for (const std::uint8_t label : score.labels)
        labels.push_back(label_json(label, score.classes));
    for (const ClassScore& one : score.per_class)
        per_class.push_back({{"label", label_json(one.label, score.classes)},
                             {"precision", one.precision},
                             {"recall", one.recall},
                             {"f1", one.f1},
                             {"support", one.support}});
    return {{"correct", score.correct},
            {"total", score.total},
            {"accuracy", score.accuracy},
            {"accuracy_low", score.accuracy_low},
            {"accuracy_high", score.accuracy_high},
            {"labels", std::move(labels)},
            {"confusion", score.confusion},
            {"per_class", per_class},
            {"calibration", calibration_json(evaluation)}};
}

}  // namespace

Json program_json() {
    return {{"name", "mnist-knn"}, {"version", program_version}};
}

Json json_head(const char* schema) {
    return {{"schema", schema}, {"program", program_json()}};
}

std::string json_text(const Json& value) {
    std::string text;
    write(text, value, 0);
    return text + '\n';
}

Json label_json(int label, const std::vector<std::string>& classes) {
    return classes.empty() ? Json(label) : Json(classes[static_cast<std::size_t>(label)]);
}

void put_shape(Json& object, const Dataset& data) {
    if (data.are_images()) {
        object["rows"] = data.train.rows;
        object["cols"] = data.train.cols;
        return;
    }
    object["type"] = name(data.train.type);
    object["columns"] = data.train.cols;
}

Json neighbors_json(std::span<const Neighbor> neighbors, const std::uint8_t* labels, const Measure& measure,
                    const std::vector<std::string>& classes) {
    Json list = Json::array();
    for (const Neighbor& one : neighbors)
        list.push_back({{"index", one.index},
                        {"label", label_json(labels[one.index], classes)},
                        {"distance", is_integral(measure) ? Json(one.distance)
                                                          : Json(distance_number(measure, one.distance))}});
    return list;
}

Json settings_json(const Method& method, const Plan& plan) {
    Json json = {{"method", name_of(method)},
                 {"transform", method.transform.text()},
                 {"rerank", reranker_text(method.rerank)},
                 {"candidates", method.candidates()},
                 {"vote", name(method.vote.votes)},
                 {"k", method.vote.k},
                 {"engine", plan.engine},
                 {"distance", plan.distance},
                 {"select", plan.select},
                 {"metric", name(method.measure.metric)}};
    if (method.measure.metric == Metric::lp) json["p"] = method.measure.p;
    json.update({{"weights", name(method.vote.weights)},
                 {"tie", name(method.vote.tie)},
                 {"device", device_id(plan.device)},
                 {"threads", plan.threads},
                 {"sketch", name(plan.sketch)},
                 {"batch", plan.batch}});
    for (const Device& device : plan.devices)
        json["devices"].push_back(device_id(device));
    if (plan.ranks > 1) json["ranks"] = plan.ranks;
    if (plan.placement != Placement::automatic) json["spread"] = name(plan.placement);
    if (plan.memory > 0) json["memory"] = plan.memory;
    return json;
}

Json neighbor_settings_json(const Method& method, const Plan& plan) {
    Json json = settings_json(method, plan);
    for (const char* without_effect : {"method", "rerank", "candidates", "vote", "weights", "tie"})
        json.erase(without_effect);
    return json;
}

Json timing_json(const Timeline& timeline, std::int64_t images, double search_ms, double load_ms,
                 double wall_ms) {
    Json stages = Json::array();
    for (const Stage& stage : timeline.stages()) {
        const double per_image = images > 0 ? stage.total_ms / static_cast<double>(images) : 0;
        Json one = {{"name", stage.name},
                    {"launches", stage.launches},
                    {"kind", name(stage.kind)},
                    {"total_ms", measured(stage.total_ms)},
                    {"per_image_ms", measured(per_image)}};
        if (stage.bytes > 0) one["bytes"] = static_cast<std::int64_t>(stage.bytes);
        if (stage.gb_per_s() > 0) one["gb_per_s"] = measured(stage.gb_per_s());
        if (stage.gflop_per_s() > 0) one["gflop_per_s"] = measured(stage.gflop_per_s());
        stages.push_back(std::move(one));
    }
    Json json = {{"stages", stages},
                 {"kernels_ms", measured(timeline.kernels_ms())},
                 {"search_ms", measured(search_ms)},
                 {"load_ms", measured(load_ms)},
                 {"wall_ms", measured(wall_ms)}};
    for (const double ms : timeline.device_ms())
        json["devices_ms"].push_back(measured(ms));
    if (!timeline.device_ms().empty()) json["imbalance"] = measured(timeline.imbalance());
    return json;
}

Json json_device(const Device& device) {
    Json json = {{"name", device.name}, {"kind", name(device.kind)}};
    if (!device.compute_capability.empty()) json["compute_capability"] = device.compute_capability;
    if (device.memory_bytes > 0) json["memory_bytes"] = device.memory_bytes;
    if (!device.driver.empty()) json["driver"] = device.driver;
    if (!device.runtime.empty()) json["runtime"] = device.runtime;
    return json;
}

Json report_object(const Evaluation& evaluation) {
    const Dataset& data = *evaluation.data;
    Json files = Json::array();
    for (const std::filesystem::path& file : data.files)
        files.push_back(report_path(file));
    Json report = json_head("mnist-knn/evaluate/1");
    Json dataset = {{"name", report_path(data.name)}, {"source", report_path(data.source)},
                    {"files", std::move(files)},      {"synthetic", data.synthetic},
                    {"train", evaluation.n_train},    {"test", evaluation.n_test}};
    put_shape(dataset, data);
    dataset["classes"] = data.labels.size();
    if (data.named_vectors) dataset["vectors"] = true;
    if (!data.label_column.empty()) dataset["label_column"] = data.label_column;
    report.update(
        {{"created", evaluation.created},
         {"dataset", std::move(dataset)},
         {"settings", settings_json(evaluation.method, evaluation.found.plan)},
         {"device", json_device(evaluation.found.plan.device)},
         {"result", result_json(evaluation)},
         {"timing", timing_json(evaluation.found.timeline, evaluation.n_test, evaluation.found.search_ms,
                                evaluation.load_ms, evaluation.wall_ms)}});
    if (!data.extra.empty())
        report["dataset"]["extra"] = {{"files", {report_path(data.extra[0]), report_path(data.extra[1])}},
                                      {"images", data.n_extra}};
    if (!evaluation.pictures.empty()) {
        report["dataset"]["named"] = evaluation.n_named;
        for (const std::string& file : evaluation.pictures)
            report["dataset"]["pictures"].push_back(report_path(file));
    }
    return report;
}

std::string json_report(const Evaluation& evaluation) {
    Json report = report_object(evaluation);
    report["dataset"]["test_checksum"] = test_checksum(*evaluation.data, evaluation.n_test);
    return json_text(report);
}

std::string report_path(const std::filesystem::path& file) {
    std::string text;
    std::string_view rest = file.native();
    while (!rest.empty()) {
        const std::size_t length = rest[0] == '%' ? 0 : visible_length(rest);
        if (length > 0) {
            text += rest.substr(0, length);
        } else {
            const auto byte = static_cast<unsigned char>(rest[0]);
            text += {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
        }
        rest.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return text;
}

std::filesystem::path path_in_report(const std::string& text) {
    std::string name;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned byte = 0;
        const char* const digits = text.data() + i + 1;
        const bool escaped = text[i] == '%' && i + 2 < text.size() &&
                             std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
        name += escaped ? static_cast<char>(byte) : text[i];
        if (escaped) i += 2;
    }
    return name;
}

std::string test_checksum(const Dataset& data, std::int64_t n) {
    const LabeledImages& set = data.test;
    const std::string size =
        std::to_string(n) + ' ' + std::to_string(set.rows) + ' ' + std::to_string(set.cols) + '\n';
    Sha256 sum;
    sum.add(size.data(), size.size());
    // The type of rows, whether labels have names, and the numbers of names depend on the training set.
    constexpr std::int64_t piece = 1024;
    for (std::int64_t i = 0; i < n && !data.are_images(); i += piece) {
        const Bytes wide = converted(set.images().slice(i, std::min(piece, n - i)), ElementType::float64);
        sum.add(wide.data(), wide.size());
    }
    if (data.are_images()) sum.add(set.pixels.data(), static_cast<std::size_t>(n * set.dim()));
    const auto labels = set.labels.span().first(static_cast<std::size_t>(n));
    std::array<std::uint8_t, 256> numbers{};
    bool are_numbers = true;
    for (const std::uint8_t label : occurring_labels({labels})) {
        const std::string name = data.class_name(label);
        numbers[label] = number_of<std::uint8_t>(name).value_or(0);
        are_numbers = are_numbers && std::to_string(numbers[label]) == name;
    }
    for (const std::uint8_t label : labels)
        if (are_numbers)
            sum.add(&numbers[label], 1);
        else
            sum.add(data.classes[label].c_str(), data.classes[label].size() + 1);
    return sum.hex();
}

}  // namespace knn
