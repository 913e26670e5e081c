#include "app/report/report_file.h"

#include <charconv>
#include <filesystem>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/cli/values.h"
#include "app/report/json.h"
#include "data/core/errors.h"
#include "data/core/problem.h"
#include "data/file/transfer.h"
#include "data/set/locate.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

using nlohmann::json;

constexpr const char* schema = "mnist-knn/evaluate/1";
constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// What a report may have: a value takes up to a hundred times the memory of its text.
constexpr int max_depth = 10;
constexpr std::int64_t max_values = 5'000'000;

constexpr const char* expected_report = "a report.json of 'mnist-knn evaluate'";

/// What the file says in place of a name may have a megabyte; an error has one line.
[[noreturn]] void fail(const std::string& file, const std::string& what) {
    constexpr std::size_t most = 200;
    const std::string shown = what.size() > most ? what.substr(0, most) + "..." : what;
    throw DataError(file + ": " + shown + "; expected " + expected_report);
}

/// A part of the report, and its path.
class ReportPart {
  public:
    ReportPart(const std::string& file, const json& value, std::string name = "")
        : file_(file), value_(value), name_(std::move(name)) {}

    bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
    ReportPart at(const char* key) const {
        const std::string name = name_.empty() ? key : name_ + '.' + key;
        if (!has(key)) fail(file_, "has no " + name);
        return {file_, value_[key], name};
    }
    std::vector<ReportPart> items() const {
        if (!value_.is_array()) wrong("no list");
        std::vector<ReportPart> parts;
        for (std::size_t i = 0; i < value_.size(); ++i)
            parts.emplace_back(file_, value_[i], name_ + '[' + std::to_string(i) + ']');
        return parts;
    }
    std::string text() const { return get<std::string>(value_.is_string(), "not a string"); }
    bool yes() const { return get<bool>(value_.is_boolean(), "neither true nor false"); }
    double number() const { return get<double>(value_.is_number(), "not a number"); }
    std::int64_t whole(std::int64_t low, std::int64_t high) const {
        const auto number = get<std::int64_t>(value_.is_number_integer(), "not an integer");
        const bool fits =
            !value_.is_number_unsigned() || value_.get<std::uint64_t>() <= std::uint64_t(no_limit);
        if (!fits || number < low || number > high) wrong("out of range");
        return number;
    }
    [[noreturn]] void wrong(const std::string& what) const { fail(file_, name_ + " is " + what); }

    std::string text_or_none(const char* key) const { return has(key) ? at(key).text() : ""; }
    template <class Enum>
    Enum named_value() const {
        const auto value = named<Enum>(text());
        if (!value) wrong("'" + text() + "', which is unknown");
        return *value;
    }

  private:
    template <class Value>
    Value get(bool fits, const char* else_it_is) const {
        if (!fits) wrong(else_it_is);
        return value_.get<Value>();
    }

    const std::string& file_;
    const json& value_;
    std::string name_;
};

Method read_method(const ReportPart& part) {
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
        method.rerank.candidates = static_cast<int>(part.at("candidates").whole(min_candidates, max_k));
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

Plan read_plan(const ReportPart& settings, const ReportPart& part) {
    Plan plan;
    plan.engine = settings.at("engine").text();
    plan.distance = settings.at("distance").text();
    plan.select = settings.at("select").text();
    Device& device = plan.device;
    device.name = part.at("name").text();
    device.kind = part.at("kind").named_value<Device::Kind>();
    device.compute_capability = part.text_or_none("compute_capability");
    device.memory_bytes = part.has("memory_bytes") ? part.at("memory_bytes").whole(0, no_limit) : 0;
    device.driver = part.text_or_none("driver");
    device.runtime = part.text_or_none("runtime");
    const std::string id = settings.at("device").text();
    if (device.kind == Device::Kind::gpu && id.starts_with("gpu:"))
        std::from_chars(id.data() + 4, id.data() + id.size(), device.number);
    if (id != device_id(device)) settings.at("device").wrong("another device than the report's");
    plan.threads = static_cast<int>(settings.at("threads").whole(0, 1 << 20));
    if (settings.has("sketch")) plan.sketch = settings.at("sketch").named_value<SketchColumns>();
    plan.batch = settings.at("batch").whole(0, no_limit);
    return plan;
}

void read_timing(const ReportPart& part, Evaluation& evaluation) {
    evaluation.found.search_ms = part.at("search_ms").number();
    evaluation.load_ms = part.at("load_ms").number();
    evaluation.wall_ms = part.at("wall_ms").number();
    for (const ReportPart& one : part.at("stages").items()) {
        Stage stage;
        stage.name = one.at("name").text();
        stage.launches = one.at("launches").whole(0, no_limit);
        stage.total_ms = one.at("total_ms").number();
        stage.bytes = one.has("bytes") ? one.at("bytes").number() : 0;
        if (one.has("gflop_per_s")) stage.operations = one.at("gflop_per_s").number() * 1e6 * stage.total_ms;
        if (one.has("kind")) stage.kind = one.at("kind").named_value<StageKind>();
        evaluation.found.timeline.add(stage);
    }
}

/// Labels and confusion matrix; the sums must match the report's.
void read_result(const ReportPart& part, Evaluation& evaluation) {
    Score& score = evaluation.score;
    for (const ReportPart& label : part.at("labels").items()) {
        const std::int64_t low = score.labels.empty() ? 0 : score.labels.back() + 1;
        score.labels.push_back(static_cast<std::uint8_t>(label.whole(low, 255)));
    }
    const ReportPart confusion = part.at("confusion");
    for (const ReportPart& row : confusion.items()) {
        std::vector<std::int64_t>& counts = score.confusion.emplace_back();
        for (const ReportPart& count : row.items())
            counts.push_back(
                count.whole(0, no_limit / 65536));  // so that no sum of 256 × 256 of them overflows
        if (counts.size() != score.labels.size()) row.wrong("not one count for each label");
    }
    if (score.confusion.size() != score.labels.size()) confusion.wrong("not one row for each label");
    std::int64_t sum = 0, hits = 0;
    for (std::size_t c = 0; c < score.labels.size(); ++c) {
        sum = std::accumulate(score.confusion[c].begin(), score.confusion[c].end(), sum);
        hits += score.confusion[c][c];
    }
    score.total = part.at("total").whole(0, no_limit);
    score.correct = part.at("correct").whole(0, score.total);
    if (sum != score.total || sum != evaluation.n_test || hits != score.correct)
        confusion.wrong("inconsistent with the number of test images or of correct ones");
}

}  // namespace

SavedReport read_report(const std::string& file) {
    std::error_code none;
    std::string name = file;
    if (file != "-" && fs::is_directory(file, none)) {
        name = (fs::path(file) / "report.json").string();
        if (is_no_file(name)) fail(name, "is no regular file");
    }
    constexpr std::size_t max_bytes = 64 << 20;  // a report of 256 classes has about half a megabyte
    const std::string text = read_text(name, max_bytes, expected_report);
    if (name == "-") name = "standard input";
    return parse_report(text, name);
}

SavedReport parse_report(std::string_view text, const std::string& name) {
    if (text.empty()) fail(name, "is empty");
    std::int64_t values = 0;
    const auto check = [&](int depth, json::parse_event_t, const json&) {
        throw_if_stopped();
        if (depth > max_depth || ++values > max_values)
            fail(name, "has more values, or deeper, than any report");
        return true;
    };
    const json root = json::parse(text, check, false);
    if (root.is_discarded()) fail(name, "is not JSON, or is cut short");
    const ReportPart part(name, root);
    if (const std::string found = part.at("schema").text(); found != schema)
        fail(name, "its schema is '" + found + "', not '" + schema + "'");
    const ReportPart dataset = part.at("dataset");
    SavedReport report;
    report.file = name;
    const std::string source = dataset.at("source").text();
    report.source =
        dataset.has("files") ? path_in_report(source).string() : source;  // older versions wrote it as it is
    report.synthetic = dataset.at("synthetic").yes();
    Evaluation& evaluation = report.evaluation;
    evaluation.n_train = dataset.at("train").whole(1, no_limit);
    evaluation.n_test = dataset.at("test").whole(0, no_limit);
    if (dataset.has("pictures")) {
        const ReportPart pictures = dataset.at("pictures");
        for (const ReportPart& file : pictures.items())
            evaluation.pictures.push_back(path_in_report(file.text()).string());
        if (std::ssize(evaluation.pictures) != evaluation.n_test)
            pictures.wrong("not one name for each test image");
        evaluation.n_named = dataset.at("named").whole(evaluation.n_test, no_limit);
    }
    if (dataset.has("files")) {
        const ReportPart files = dataset.at("files");
        for (const ReportPart& file : files.items())
            report.files.emplace_back(path_in_report(file.text()));
        const std::size_t expected = report.of_pictures() ? 2 : mnist_files.size();
        if (!report.files.empty() && report.files.size() != expected)
            files.wrong("not " + std::to_string(expected) + " files");
    }
    if (dataset.has("extra")) {
        const ReportPart extra = dataset.at("extra");
        report.n_extra = extra.at("images").whole(1, evaluation.n_train);
        for (const ReportPart& file : extra.at("files").items())
            report.extra.emplace_back(path_in_report(file.text()));
        if (report.extra.size() != 2) extra.at("files").wrong("not 2 files");
    }
    report.test_checksum = dataset.text_or_none("test_checksum");
    report.rows = static_cast<int>(dataset.at("rows").whole(1, max_dim));
    report.cols = static_cast<int>(dataset.at("cols").whole(1, max_dim));
    evaluation.created = part.at("created").text();
    evaluation.method = read_method(part.at("settings"));
    evaluation.found.plan = read_plan(part.at("settings"), part.at("device"));
    read_result(part.at("result"), evaluation);
    read_timing(part.at("timing"), evaluation);
    return report;
}

}  // namespace knn
