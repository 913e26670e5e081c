#include <nlohmann/json.hpp>

#include "app/bench/report.h"
#include "app/cli/options.h"
#include "app/report/json.h"
#include "version.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

Json measurement_json(const BenchReport& report, const Measurement& one) {
    Json json = {{"experiment", one.experiment},
                 {"part", one.part},
                 {"name", one.name},
                 {"device", one.on},
                 {"n_train", one.problem.n_train},
                 {"n_query", one.problem.n_query},
                 {"dim", one.problem.dim},
                 {"k", one.problem.k},
                 {"metric", name(one.problem.measure.metric)}};
    if (one.problem.measure.metric == Metric::lp) json["p"] = one.problem.measure.p;
    if (!one.wrong.empty()) {
        json["status"] = "wrong";
        json["reason"] = one.wrong;
        return json;
    }
    if (!one.good()) {
        json["status"] = "left out";
        json["reason"] = one.left_out;
        return json;
    }
    const Spread spread = one.spread();
    json["status"] = "measured";
    json["queries_measured"] = one.n_query;
    json["runs"] = spread.runs;
    json["median_ms"] = spread.median;
    if (!one.kernels_ms.empty()) json["kernels_ms"] = spread_of(one.kernels_ms).median;
    if (one.open_ms > 0) json["open_ms"] = one.open_ms;
    json["min_ms"] = spread.low;
    json["max_ms"] = spread.high;
    json["us_per_query"] = one.us_per_query();
    if (one.gb_per_s() > 0) json["gb_per_s"] = one.gb_per_s();
    if (one.gflop_per_s() > 0) json["gflop_per_s"] = one.gflop_per_s();
    const LimitShare share = report.share_of(one);
    if (share.share > 0) {
        json["limit"] = share.limit;
        json["share_of_limit"] = share.share;
    }
    return json;
}

Json limits_json(const BenchReport& report) {
    Json json = Json::object();
    const auto add = [&](const char* name, double value) {
        if (value > 0) json[name] = value;
    };
    add("gpu_copy_gb_per_s", report.limits.copy_gb_per_s);
    if (report.limits.cache_bytes > 0) json["gpu_cache_bytes"] = report.limits.cache_bytes;
    add("gpu_multiply_add_gflop_per_s", report.limits.multiply_add_gflop_per_s);
    add("pinned_upload_gb_per_s", report.limits.pinned_upload_gb_per_s);
    add("pageable_upload_gb_per_s", report.limits.pageable_upload_gb_per_s);
    add("cpu_thread_copy_gb_per_s", report.cpu_copy_gb_per_s);
    return json;
}

}  // namespace

std::string bench_json(const BenchReport& report) {
    Json devices = Json::array(), measurements = Json::array(), tables = Json::array(),
         quotes = Json::array(), left_out = Json::array();
    for (const Device& device : report.devices)
        devices.push_back(json_device(device));
    for (const Measurement& one : report.measurements)
        measurements.push_back(measurement_json(report, one));
    for (const BenchTable& table : report.tables)
        tables.push_back({{"title", table.title},
                          {"columns", table.columns},
                          {"rows", table.rows},
                          {"notes", table.notes}});
    for (const Quote& quote : report.quotes)
        quotes.push_back(
            {{"what", quote.what}, {"text", quote.text}, {"unit", quote.unit}, {"source", quote.source}});
    for (const LeftOut& one : report.left_out)
        left_out.push_back({{"name", one.name}, {"reason", one.reason}});
    return json_text({{"schema", "mnist-knn/bench/1"},
                      {"program", {{"name", "mnist-knn"}, {"version", program_version}}},
                      {"created", report.created},
                      {"case", report.experiment},
                      {"data", report.data},
                      {"devices", devices},
                      {"limits", limits_json(report)},
                      {"checked", report.checked},
                      {"correct", !report.wrong()},
                      {"measurements", measurements},
                      {"paper", quotes},
                      {"left_out", left_out},
                      {"tables", tables}});
}

}  // namespace knn
