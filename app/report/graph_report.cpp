#include "app/report/graph_report.h"

#include <algorithm>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>

#include "app/report/json.h"
#include "app/report/plot.h"
#include "app/report/text.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t hubs_in_text = 5, hubs_in_json = 20;

std::string points_text(const GraphResult& graph) {
    return counted(graph.counts.points, "image") + " of " + std::to_string(graph.rows) + " x " +
           std::to_string(graph.cols);
}

std::string share_text(std::int64_t part, std::int64_t whole) {
    return percent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string hub_text(const GraphResult& graph, std::int64_t hub, std::span<const std::uint8_t> labels) {
    const auto i = static_cast<std::size_t>(hub);
    std::string text = "#" + std::to_string(hub) + " (" + with_commas(graph.counts.in_degree[i]);
    if (!labels.empty()) text += ", label " + std::to_string(labels[i]);
    return text + ")";
}

std::string settings_text(const GraphResult& graph) {
    return features_text(graph.method.transform) + "k = " + std::to_string(graph.method.vote.k) +
           ", metric " + metric_text(graph.method.measure) + ", form " + name(graph.form);
}

std::string edges_text(const GraphResult& graph) {
    const bool directed = graph.form == GraphForm::directed;
    return with_commas(graph.counts.edges) + (directed ? " directed" : " undirected");
}

std::string components_text(const GraphCounts& counts) {
    std::string text = with_commas(counts.components) + ", the largest of " +
                       counted(counts.largest_component, "point") + " (" +
                       share_text(counts.largest_component, counts.points) + ")";
    if (counts.isolated > 0) text += "; " + counted(counts.isolated, "point") + " without an edge";
    return text;
}

/// The range of in-degrees with index 0, 1, 2 ...: 0, 1, 2-3, 4-7 ...
std::size_t range_of(std::uint32_t degree) {
    return static_cast<std::size_t>(std::bit_width(degree));
}

std::string range_text(std::size_t range) {
    if (range < 2) return std::to_string(range);
    const std::uint64_t low = std::uint64_t{1} << (range - 1);
    return std::to_string(low) + "-" + std::to_string(2 * low - 1);
}

Json degrees_json(const GraphCounts& counts) {
    std::map<std::uint32_t, std::int64_t> histogram;
    for (const std::uint32_t degree : counts.in_degree)
        ++histogram[degree];
    Json list = Json::array();
    for (const auto& [degree, points] : histogram)
        list.push_back({degree, points});
    return list;
}

Json hubs_json(const GraphResult& graph, std::span<const std::uint8_t> labels) {
    Json list = Json::array();
    for (const std::int64_t hub : graph.counts.hubs(hubs_in_json)) {
        const auto i = static_cast<std::size_t>(hub);
        Json one = {{"index", hub}, {"in_degree", graph.counts.in_degree[i]}};
        if (!labels.empty()) one["label"] = labels[i];
        list.push_back(std::move(one));
    }
    return list;
}

Json counts_json(const GraphResult& graph, std::span<const std::uint8_t> labels) {
    const GraphCounts& counts = graph.counts;
    Json json = {{"points", counts.points},
                 {"form", name(graph.form)},
                 {"edges", counts.edges},
                 {"mutual_share", graph.mutual_share}};
    if (counts.same_class) json["same_class_share"] = *counts.same_class;
    json["in_degree"] = {{"mean", counts.mean_in_degree()},
                         {"max", *std::max_element(counts.in_degree.begin(), counts.in_degree.end())},
                         {"zero", counts.without_in_edges()},
                         {"skewness", counts.skewness()},
                         {"hubs", hubs_json(graph, labels)},
                         {"histogram", degrees_json(counts)}};
    json["components"] = {
        {"count", counts.components}, {"largest", counts.largest_component}, {"isolated", counts.isolated}};
    return json;
}

}  // namespace

std::string graph_text(const GraphResult& graph, std::span<const std::uint8_t> labels) {
    const GraphCounts& counts = graph.counts;
    Table table({Align::left, Align::left});
    table.add({"data", points_text(graph)});
    table.add({"source", harmless(graph.source)});
    table.add({"device", device_text(graph.plan.device)});
    if (const std::string spread = spread_text(graph.plan); !spread.empty()) table.add({"spread", spread});
    table.add({"engine", engine_text(graph.plan)});
    table.add({"settings", settings_text(graph)});
    std::string text = table.text(0) + '\n';

    std::string hubs;
    for (const std::int64_t hub : counts.hubs(hubs_in_text))
        hubs += (hubs.empty() ? "" : ", ") + hub_text(graph, hub, labels);
    Table facts({Align::left, Align::left});
    facts.add({"edges", edges_text(graph)});
    facts.add({"mutual", percent(graph.mutual_share) + " of the directed edges"});
    facts.add({"in-degree", "mean " + fixed(counts.mean_in_degree(), 2) + ", skewness " +
                                fixed(counts.skewness(), 2) + "; " +
                                counted(counts.without_in_edges(), "point") + " (" +
                                share_text(counts.without_in_edges(), counts.points) + ") without"});
    facts.add({"hubs", hubs});
    facts.add({"components", components_text(counts)});
    if (counts.same_class) facts.add({"same class", percent(*counts.same_class) + " of the edges"});
    if (const std::string imbalance = imbalance_text(graph.timeline); !imbalance.empty())
        facts.add({"imbalance", imbalance});
    facts.add({"time", times_text(graph.search_ms, graph.load_ms, graph.wall_ms)});
    return text + facts.text(0);
}

std::string graph_json(const GraphResult& graph, std::span<const std::uint8_t> labels) {
    Json settings = settings_json(graph.method, graph.plan);
    for (const char* of_votes : {"method", "weights", "tie"})
        settings.erase(of_votes);
    Json points = {
        {"source", graph.source}, {"count", graph.counts.points}, {"rows", graph.rows}, {"cols", graph.cols}};
    if (!graph.pictures.empty()) {
        Json files = Json::array();
        for (const std::string& file : graph.pictures)
            files.push_back(report_path(file));
        points["files"] = std::move(files);
    }
    Json json = json_head("mnist-knn/graph/1");
    json.update({{"created", graph.created},
                 {"data", std::move(points)},
                 {"settings", std::move(settings)},
                 {"device", json_device(graph.plan.device)},
                 {"graph", counts_json(graph, labels)},
                 {"timing", timing_json(graph.timeline, graph.counts.points, graph.search_ms, graph.load_ms,
                                        graph.wall_ms)}});
    return json_text(json);
}

std::string graph_plot(const GraphResult& graph) {
    std::vector<std::int64_t> points;
    for (const std::uint32_t degree : graph.counts.in_degree) {
        points.resize(std::max(points.size(), range_of(degree) + 1));
        ++points[range_of(degree)];
    }
    Panel panel;
    panel.title = "In-degrees: how many points have a point as their neighbor";
    panel.x_label = "points";
    panel.log_x = false;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto n = static_cast<double>(points[i]);
        panel.bars.push_back({range_text(i), n, n, n, with_commas(points[i])});
    }
    panel.notes = {"mean " + fixed(graph.counts.mean_in_degree(), 2) + ", skewness " +
                   fixed(graph.counts.skewness(), 2)};
    return draw_panels(std::string("The k-nearest-neighbor graph, ") + settings_text(graph),
                       {points_text(graph), graph.source}, {panel});
}

}  // namespace knn
