#include "classifier/graph.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <ostream>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/loading.h"
#include "app/commands/outputs.h"
#include "app/commands/plot_file.h"
#include "app/commands/ranks.h"
#include "app/console/destinations.h"
#include "app/console/interrupt.h"
#include "app/console/notes.h"
#include "app/console/output.h"
#include "app/console/watched.h"
#include "app/report/graph_files.h"
#include "app/report/graph_report.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr int usual_k = 10;

/// The files that are written, in this order; those that were not asked for have no name.
struct GraphFiles {
    enum File { indices, distances, csv, matrix, json, plot, count };
    std::array<std::string, count> names;

    explicit GraphFiles(const Options& options) {
        const GraphOptions& graph = options.graph;
        const std::string& npy = graph.npy;
        names = {npy.empty() ? "" : npy + "-indices.npy",
                 npy.empty() ? "" : npy + "-distances.npy",
                 graph.csv,
                 graph.mtx,
                 options.output.json,
                 graph.plot};
    }
    std::vector<std::string> given() const {
        std::vector<std::string> all(names.begin(), names.end());
        std::erase(all, "");
        return all;
    }
    bool take_standard_output() const {
        return std::any_of(names.begin(), names.end(),
                           [](const auto& file) { return !file.empty() && is_standard_output(file); });
    }
    /// Null if the file was not asked for.
    std::ostream* stream(const OutputStreams& streams, File file) const {
        if (names[file].empty()) return nullptr;
        std::size_t before = 0;
        for (std::size_t i = 0; i < file; ++i)
            before += names[i].empty() ? 0 : 1;
        return &streams[before];
    }
};

Destinations destinations(const Options& options, const GraphFiles& files) {
    Destinations outputs;
    constexpr std::array options_of = {"--npy", "--npy", "--csv", "--mtx", "--json", "--plot"};
    for (std::size_t i = 0; i < files.names.size(); ++i)
        outputs.add(options_of[i], files.names[i]);
    check_plot(options.graph.plot);
    if (!options.graph.npy.empty() && options.graph.form != GraphForm::directed)
        throw UsageError("--npy " + options.graph.npy + ": has k neighbors of each image, but --form " +
                         name(options.graph.form) + " has not; expected --mtx or --csv for that form");
    return outputs;
}

/// The writers of the files that have rows; `edges` as GraphCounts has them.
std::vector<std::unique_ptr<GraphWriter>> open_writers(const GraphFiles& files, const OutputStreams& streams,
                                                       const GraphResult& result, std::int64_t n,
                                                       std::int64_t edges) {
    std::vector<std::unique_ptr<GraphWriter>> writers;
    const Measure& measure = result.method.measure;
    const int k = result.method.vote.k;
    if (std::ostream* out = files.stream(streams, GraphFiles::indices))
        writers.push_back(npy_indices(*out, n, k));
    if (std::ostream* out = files.stream(streams, GraphFiles::distances))
        writers.push_back(npy_distances(*out, n, k, measure));
    if (std::ostream* out = files.stream(streams, GraphFiles::csv))
        writers.push_back(graph_csv(*out, measure));
    if (std::ostream* out = files.stream(streams, GraphFiles::matrix))
        writers.push_back(graph_matrix(*out, n, edges, result.form, measure));
    return writers;
}

/// Counts the rows of the graph and writes them to the files.
class RowSink {
  public:
    RowSink(const GraphFiles& files, const OutputStreams& streams, GraphResult& result,
            const Training& training)
        : files_(files),
          streams_(streams),
          result_(result),
          n_(training.rows.count),
          mutual_(n_),
          counter_(n_, result.form, training.labels) {
        if (result.form == GraphForm::directed)
            writers_ = open_writers(files, streams, result, n_, n_ * result.method.vote.k);
        else
            all_ = Neighbors(n_, result.method.vote.k);
    }

    /// Rows of the directed graph, in order.
    void take(std::int64_t first, const Neighbors& part) {
        for (std::int64_t i = 0; i < part.n_query; ++i) {
            mutual_.row(first + i, part.row(i));
            if (result_.form == GraphForm::directed)
                put(first + i, part.row(i));
            else
                std::copy(part.row(i).begin(), part.row(i).end(), all_.row(first + i).begin());
        }
        streams_.check();
    }

    /// After the last row.
    void finish() {
        if (result_.form != GraphForm::directed) put_undirected();
        writers_.clear();
        result_.counts = counter_.counts();
        result_.mutual_share =
            static_cast<double>(2 * mutual_.pairs()) / static_cast<double>(n_ * result_.method.vote.k);
    }

  private:
    void put(std::int64_t point, std::span<const Neighbor> row) {
        counter_.row(point, row);
        for (const auto& writer : writers_)
            writer->row(point, row);
    }
    void put_undirected() {
        const GraphRows rows = undirected(all_, result_.form);
        writers_ = open_writers(files_, streams_, result_, n_, std::ssize(rows.edges) / 2);
        constexpr std::int64_t between_checks = 4096;
        for (std::int64_t i = 0; i < n_; ++i) {
            put(i, rows.row(i));
            if (i % between_checks != 0) continue;
            stop_if_asked();
            streams_.check();
        }
    }

    const GraphFiles& files_;
    const OutputStreams& streams_;
    GraphResult& result_;
    std::int64_t n_;
    MutualCounter mutual_;
    GraphCounter counter_;
    std::vector<std::unique_ptr<GraphWriter>> writers_;
    Neighbors all_;  ///< of an undirected form
};

void check_size(const GraphOptions& graph, std::int64_t n) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (!graph.npy.empty() && n > most)
        throw UsageError("--npy " + graph.npy + ": its indices are int32; expected at most " +
                         with_commas(most) + " images");
}

}  // namespace

int graph(const Options& options, Clock::time_point start) {
    const GraphFiles files(options);
    const Destinations outputs = destinations(options, files);
    Planner planner(options.wish);  // looks for GPUs in the background
    const ImagesLocation location = locate_images(options, Needed::points);
    outputs.check(inputs_of(options, location.files()));

    GraphResult result;
    result.created = utc_now();
    result.source = location.data.source;
    result.pictures = location.pictures;
    result.form = options.graph.form;
    const bool has_k = options.given.contains("-k");
    result.method = {
        options.method.transform, options.method.measure, {}, {.k = has_k ? options.method.vote.k : usual_k}};
    if (options.method.reranks())
        note("a graph has the distances of the method's transform and metric, without its re-ranking",
             options.output);
    LoadedSet points(planner, location, options);
    const Training& training = points.training().view();
    require_graph_k(result.method.vote.k, training.rows.count);
    check_size(options.graph, training.rows.count);
    if (std::ssize(result.pictures) > training.rows.count)
        result.pictures.resize(static_cast<std::size_t>(training.rows.count));
    const Resolved resolved = points.resolve(planner, result.method, training.rows.count);
    result.rows = training.shape.rows;
    result.cols = training.shape.cols;
    result.load_ms = points.load_ms();

    agree_on({training.rows}, training.labels);
    write_outputs_at_once(files.given(), [&](const OutputStreams& streams) {
        RowSink sink(files, streams, result, training);
        Classifier classifier(points.training(), result.method, resolved, stoppable());
        result.timeline = classifier.opening();
        result.search_ms = classifier.open_ms();
        result.search_ms += watched(options.output, "searching", [&](const Watch& watch) {
            return search_graph(classifier, result.timeline, watch,
                                [&](std::int64_t first, const Neighbors& part) { sink.take(first, part); });
        });
        result.plan = classifier.plan();
        sink.finish();
        result.wall_ms = ms_since(start);
        if (std::ostream* out = files.stream(streams, GraphFiles::json))
            *out << graph_json(result, training.labels);
        if (std::ostream* out = files.stream(streams, GraphFiles::plot))
            *out << plot_of(graph_plot(result), files.names[GraphFiles::plot]);
    });
    if (!files.take_standard_output() && !options.output.quiet) print(graph_text(result, training.labels));
    return 0;
}

}  // namespace knn
