#include "classifier/graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "app/cli/command_line.h"
#include "app/commands/loading.h"
#include "app/commands/neighbors_files.h"
#include "app/commands/ranks.h"
#include "app/report/json.h"
#include "app/report/plot.h"
#include "app/report/text.h"
#include "classifier/exact_distances.h"
#include "classifier/host.h"
#include "data/core/format.h"
#include "data/vectors/write.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t hubs_in_text = 5, hubs_in_json = 20;

struct GraphResult : SelfSearch {
    Method method;  ///< its vote has k
    GraphForm form;
    GraphCounts counts = {};
    double mutual_share = 0;  ///< of the directed edges, whatever the form
};

std::string points_text(const GraphResult& graph) {
    return counted(graph.images(), row_noun(graph.set.data())) + " of " + row_text(graph.set.data());
}

std::string hub_text(const GraphResult& graph, std::int64_t hub) {
    const auto i = static_cast<std::size_t>(hub);
    const std::span<const std::uint8_t> labels = graph.training().labels;
    std::string text = "#";  // g++ 12 warns of "#" + a string
    text += std::to_string(hub) + " (" + with_commas(graph.counts.in_degree[i]);
    if (!labels.empty()) text += ", label " + class_text(graph.set.data().class_name(labels[i]));
    return text + ")";
}

std::string settings_text(const GraphResult& graph) {
    return features_text(graph.method.transform) + "k = " + std::to_string(graph.method.vote.k) +
           ", metric " + metric_text(graph.method.measure) + ", form " + name(graph.form);
}

std::string degrees_text(const GraphCounts& counts) {
    return "mean " + fixed(counts.mean_in_degree(), 2) + ", skewness " + fixed(counts.skewness(), 2);
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

std::string graph_text(const GraphResult& graph) {
    const GraphCounts& counts = graph.counts;
    const std::string hubs =
        joined(counts.hubs(hubs_in_text), [&](std::int64_t hub) { return hub_text(graph, hub); });
    return facts_text({{"data", points_text(graph)},
                       {"source", harmless(graph.source())},
                       {"device", device_text(graph.plan.device)},
                       {"spread", spread_text(graph.plan)},
                       {"engine", engine_text(graph.plan)},
                       {"settings", settings_text(graph)}}) +
           '\n' +
           facts_text(
               {{"edges", with_commas(counts.edges) +
                              (graph.form == GraphForm::directed ? " directed" : " undirected")},
                {"mutual", percent(graph.mutual_share) + " of the directed edges"},
                {"in-degree", degrees_text(counts) + "; " + counted(counts.without_in_edges(), "point") +
                                  " (" + share_text(counts.without_in_edges(), counts.points) + ") without"},
                {"hubs", hubs},
                {"components",
                 with_commas(counts.components) + ", the largest of " +
                     counted(counts.largest_component, "point") + " (" +
                     share_text(counts.largest_component, counts.points) + ")" +
                     (counts.isolated > 0 ? "; " + counted(counts.isolated, "point") + " without an edge"
                                          : "")},
                {"same class", counts.same_class ? percent(*counts.same_class) + " of the edges" : ""},
                {"imbalance", imbalance_text(graph.timeline)},
                {"time", times_text(graph.search_ms, graph.set.load_ms(), graph.wall_ms)}});
}

Json counts_json(const GraphResult& graph) {
    const GraphCounts& counts = graph.counts;
    const std::span<const std::uint8_t> labels = graph.training().labels;
    Json hubs = Json::array(), histogram = Json::array();
    for (const std::int64_t hub : counts.hubs(hubs_in_json)) {
        const auto i = static_cast<std::size_t>(hub);
        Json& one = hubs.emplace_back(Json{{"index", hub}, {"in_degree", counts.in_degree[i]}});
        if (!labels.empty()) one["label"] = label_json(labels[i], graph.set.data().classes);
    }
    std::map<std::uint32_t, std::int64_t> points_of;  // each in-degree
    for (const std::uint32_t degree : counts.in_degree)
        ++points_of[degree];
    for (const auto& [degree, points] : points_of)
        histogram.push_back({degree, points});
    Json json = {{"points", counts.points},
                 {"form", name(graph.form)},
                 {"edges", counts.edges},
                 {"mutual_share", graph.mutual_share}};
    if (counts.same_class) json["same_class_share"] = *counts.same_class;
    json["in_degree"] = {{"mean", counts.mean_in_degree()},
                         {"max", *std::max_element(counts.in_degree.begin(), counts.in_degree.end())},
                         {"zero", counts.without_in_edges()},
                         {"skewness", counts.skewness()},
                         {"hubs", std::move(hubs)},
                         {"histogram", std::move(histogram)}};
    json["components"] = {
        {"count", counts.components}, {"largest", counts.largest_component}, {"isolated", counts.isolated}};
    return json;
}

std::string graph_json(const GraphResult& graph) {
    Json points = {{"source", report_path(graph.source())}, {"count", graph.images()}};
    put_shape(points, graph.set.data());
    if (const std::vector<std::string>& files = graph.set.pictures(); !files.empty())
        for (const std::string& file : std::span(files).first(static_cast<std::size_t>(graph.images())))
            points["files"].push_back(report_path(file));
    Json json = json_head("mnist-knn/graph/1");
    json.update({{"created", utc_now()},
                 {"data", std::move(points)},
                 {"settings", neighbor_settings_json(graph.method, graph.plan)},
                 {"device", json_device(graph.plan.device)},
                 {"graph", counts_json(graph)},
                 {"timing", timing_json(graph.timeline, graph.images(), graph.search_ms, graph.set.load_ms(),
                                        graph.wall_ms)}});
    return json_text(json);
}

/// An SVG: how many points have how many in-edges, as bars: each range of in-degrees is twice as wide as the one before.
std::string graph_plot(const GraphResult& graph) {
    std::vector<std::int64_t> points;
    for (const std::uint32_t degree : graph.counts.in_degree) {
        points.resize(std::max(points.size(), range_of(degree) + 1));
        ++points[range_of(degree)];
    }
    Panel panel = {"In-degrees: how many points have a point as their neighbor", "points", "", false};
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto n = static_cast<double>(points[i]);
        panel.bars.push_back({range_text(i), n, n, n, with_commas(points[i])});
    }
    panel.notes = {degrees_text(graph.counts)};
    return draw_panels(std::string("The k-nearest-neighbor graph, ") + settings_text(graph),
                       {points_text(graph), graph.source()}, {panel});
}

/// Counts the rows of the graph and writes them to the files that were asked for, as they are found.
class GraphWriter {
  public:
    GraphWriter(const GraphOptions& options, GraphResult& result)
        : result_(result),
          mutual_(result.images()),
          counter_(result.images(), result.form, result.training().labels) {
        const std::int64_t n = result.images();
        if (!options.npy.empty()) {
            indices_ = &files_.open(options.npy + npy_endings[0]);
            distances_ = &files_.open(options.npy + npy_endings[1]);
            const std::array shape{n, std::int64_t{k()}};
            put_npy_header(*indices_, shape, "i4");
            put_npy_header(*distances_, shape, has_integers() ? "i8" : "f8");
        }
        if (!options.csv.empty()) csv_.emplace(files_.open(options.csv)).row("point,rank,neighbor,distance");
        if (!options.mtx.empty()) mtx_.emplace(files_.open(options.mtx), ' ');
        if (is_directed()) {
            put_matrix_heading(n * k());
            return;
        }
        all_ = Neighbors(n, k());
    }

    /// Of a real measure, before the first row: what the index compares.
    void compare(const Rows& rows) { order_ = {measure(), rows}; }

    void take(std::int64_t first, const Neighbors& part) {
        const Rows& rows = order_.rows;
        Uninitialized<double> exact;
        if (is_directed() && measure().real)
            exact = exact_distances(rows, rows.slice(first, part.n_query), part, measure(),
                                    result_.plan.threads, stoppable());
        for (std::int64_t i = 0; i < part.n_query; ++i) {
            stop_if_asked();
            mutual_.row(first + i, part.row(i), order_);
            const std::size_t at = exact.empty() ? 0 : static_cast<std::size_t>(i * part.k);
            if (is_directed())
                put_row(first + i, part.row(i), std::span(exact).subspan(at));
            else
                std::ranges::copy(part.row(i), all_.row(first + i).begin());
        }
        files_.check();
    }

    /// After the last row: writes an undirected form. Returns the files, which are not yet in place.
    OutputFiles& finish() {
        const std::int64_t n = result_.images();
        if (!is_directed()) {
            const GraphRows rows = undirected(all_, result_.form, order_, stoppable());
            std::int64_t edges = 0;
            for (const std::vector<Neighbor>& row : rows)
                edges += std::ssize(row);
            put_matrix_heading(edges / 2);
            constexpr std::int64_t between_checks = 4096;
            for (std::int64_t i = 0; i < n; ++i) {
                stop_if_asked();
                const std::vector<Neighbor>& row = rows[static_cast<std::size_t>(i)];
                put_row(i, row, exact_row(i, row));
                if (i % between_checks == 0) files_.check();
            }
        }
        csv_.reset();
        mtx_.reset();
        result_.counts = counter_.counts();
        result_.mutual_share = static_cast<double>(2 * mutual_.pairs()) / static_cast<double>(n * k());
        return files_;
    }

  private:
    bool is_directed() const { return result_.form == GraphForm::directed; }
    int k() const { return result_.method.vote.k; }
    const Measure& measure() const { return result_.method.measure; }

    bool has_integers() const { return is_integral(measure()); }
    /// Of a real measure, else none.
    std::vector<double> exact_row(std::int64_t point, std::span<const Neighbor> row) const {
        std::vector<double> distances;
        const Rows& rows = order_.rows;
        if (measure().real)
            for (const Neighbor& one : row)
                distances.push_back(shown_distance(
                    measure(),
                    exact_distance(measure(), rows.row(point), rows.row(one.index), rows.dim, rows.type)));
        return distances;
    }

    /// `edges` as GraphCounts has them.
    void put_matrix_heading(std::int64_t edges) {
        if (!mtx_) return;
        mtx_->row("%%MatrixMarket matrix coordinate", has_integers() ? "integer" : "real",
                  is_directed() ? "general" : "symmetric");
        mtx_->row("% the", name(result_.form),
                  "k-nearest-neighbor graph; entry (i, j): the distance of point i to its neighbor j");
        mtx_->row(result_.images(), result_.images(), edges);
    }

    /// In the CSV points count from 0 and ranks from 1; in the matrix points count from 1, and of an undirected form, a
    /// symmetric matrix, the file has the lower triangle.
    /// `distances`: those of the row, of a real measure.
    void put_row(std::int64_t point, std::span<const Neighbor> row, std::span<const double> distances) {
        counter_.row(point, row);
        if (indices_ == nullptr && !csv_ && !mtx_) return;
        std::vector<double> numbers;
        if (!has_integers() && !measure().real) {
            for (const Neighbor& one : row)
                numbers.push_back(distance_number(measure(), one.distance));
            distances = numbers;
        }
        if (indices_ != nullptr) {
            put_as<std::int32_t>(*indices_, row, &Neighbor::index);
            if (has_integers())
                put_as<std::int64_t>(*distances_, row, &Neighbor::distance);
            else
                put_as<double>(*distances_, distances.first(row.size()));
        }
        if (!csv_ && !mtx_) return;
        int rank = 0;
        for (const Neighbor& one : row) {
            const std::string distance = has_integers() ? std::to_string(one.distance)
                                                        : shortest(distances[static_cast<std::size_t>(rank)]);
            ++rank;
            if (csv_) csv_->row(point, rank, one.index, distance);
            if (mtx_ && (is_directed() || one.index <= point))
                mtx_->row(point + 1, std::int64_t{one.index} + 1, distance);
        }
    }

    OutputFiles files_;
    GraphResult& result_;
    NeighborOrder order_;
    MutualCounter mutual_;
    GraphCounter counter_;
    std::ostream *indices_ = nullptr, *distances_ = nullptr;  ///< of --npy
    std::optional<Lines> csv_, mtx_;
    Neighbors all_;  ///< of an undirected form
};

void check_form(const Options& options) {
    if (!options.graph.npy.empty() && options.graph.form != GraphForm::directed)
        throw UsageError("--npy " + options.graph.npy + ": has k neighbors of each image, but --form " +
                         name(options.graph.form) + " has not; expected --mtx or --csv for that form");
}

/// Before anything of each image is allocated.
void check_size(const GraphOptions& graph, std::int64_t n, int k) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (!graph.npy.empty() && n > most)
        throw UsageError("--npy " + graph.npy + ": its indices are int32; expected at most " +
                         with_commas(most) + " images");
    constexpr std::int64_t counters = 25;  // bytes of a point in MutualCounter and GraphCounter
    require_memory(
        graph.form == GraphForm::directed ? n * counters : undirected_bytes(n, k, graph.form),
        [&] { return std::string("the ") + name(graph.form) + " graph of " + with_commas(n) + " points"; });
}

}  // namespace

int graph(const Options& options, Clock::time_point start) {
    check_form(options);
    LoadedSet points(options, Needed::points);
    const int k = given_k(options, points.training().size() - 1);
    GraphResult result{SelfSearch(points),
                       points.method({options.method.transform, options.method.measure, {}, {.k = k}}),
                       options.graph.form};
    if (options.method.reranks())
        note("a graph has the distances of the method's transform and metric, without its re-ranking",
             options.output);
    const Training& training = result.training();
    require_others(k, training.rows.count);
    check_size(options.graph, training.rows.count, k);
    const Resolved resolved = points.resolve(result.method, training.rows.count);
    agree_on(training);
    GraphWriter writer(options.graph, result);
    const Index index(points.training(), result.method, resolved, stoppable());
    result.timeline = index.opening();
    if (result.method.measure.real)
        writer.compare(
            index.set().features(result.method.transform, 0, stoppable().stop, result.timeline).rows);
    const GraphSearch search = with_progress(options.output, "searching", [&](const ProgressToken& token) {
        return search_graph(index, result.timeline, token,
                            [&](std::int64_t first, const Neighbors& part) { writer.take(first, part); });
    });
    result.search_ms = index.open_ms() + search.ms;
    result.plan = search.plan;
    OutputFiles& files = writer.finish();
    result.wall_ms = ms_since(start);
    if (!options.output.json.empty()) files.open(options.output.json) << graph_json(result);
    if (!options.graph.plot.empty()) files.open(options.graph.plot) << graph_plot(result);
    files.commit();
    if (!options.output.quiet && !files.has_standard_output()) print(graph_text(result));
    return 0;
}

}  // namespace knn
