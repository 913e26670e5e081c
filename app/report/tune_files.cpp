#include <nlohmann/json.hpp>

#include "app/report/json.h"
#include "app/report/tune_report.h"
#include "data/core/format.h"
#include "version.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

/// The parts of a method with the names that report.json has for them.
Json method_json(const Method& method) {
    Json json = settings_json(method, {});
    for (const char* of_plan : {"engine", "distance", "select", "device", "threads", "batch"})
        json.erase(of_plan);
    return json;
}

Json configuration_json(const TuneResult& result, const Configuration& one) {
    Json json = {{"errors", one.errors},
                 {"error", static_cast<double>(one.errors) / static_cast<double>(result.images)},
                 {"error_low", one.share.low},
                 {"error_high", one.share.high},
                 {"p_value", one.p_value},
                 {"as_good_as_best", one.as_good_as_best}};
    json.update(method_json(one.method));
    return json;
}

}  // namespace

std::string tune_json(const TuneResult& result) {
    Json searches = Json::array(), configurations = Json::array();
    for (const Method& method : result.searches) {
        Json one = method_json(method);
        for (const char* of_votes : {"method", "vote", "weights", "tie"})
            one.erase(of_votes);
        searches.push_back(std::move(one));
    }
    for (const Configuration& one : result.configurations)
        configurations.push_back(configuration_json(result, one));
    return json_text({{"schema", "mnist-knn/tune/1"},
                      {"program", {{"name", "mnist-knn"}, {"version", program_version}}},
                      {"created", result.created},
                      {"data",
                       {{"source", result.source},
                        {"synthetic", result.synthetic},
                        {"count", result.images},
                        {"rows", result.rows},
                        {"cols", result.cols},
                        {"classes", result.classes}}},
                      {"device", json_device(result.plan.device)},
                      {"searches", std::move(searches)},
                      {"configurations", std::move(configurations)},
                      {"timing", timing_json(result.timeline, result.images, result.search_ms, result.load_ms,
                                             result.wall_ms)}});
}

std::string tune_csv(const TuneResult& result) {
    std::string text =
        "errors,error,error_low,error_high,p_value,as_good_as_best,transform,metric,p,rerank,candidates,vote,"
        "k,"
        "weights,tie\n";
    for (const Configuration& one : result.configurations) {
        const Method& method = one.method;
        const bool is_lp = method.measure.metric == Metric::lp;
        text += std::to_string(one.errors) + ',' +
                shortest(static_cast<double>(one.errors) / static_cast<double>(result.images)) + ',' +
                shortest(one.share.low) + ',' + shortest(one.share.high) + ',' + shortest(one.p_value) + ',' +
                (one.as_good_as_best ? "yes" : "no") + ",\"" + method.transform.text() + "\"," +
                name(method.measure.metric) + ',' + (is_lp ? shortest(method.measure.p) : "") + ',' +
                reranker_text(method.rerank) + ',' + std::to_string(method.rerank.candidates) + ',' +
                name(method.vote.votes) + ',' + std::to_string(method.vote.k) + ',' +
                name(method.vote.weights) + ',' + name(method.vote.tie) + '\n';
    }
    return text;
}

}  // namespace knn
