#include "classifier/graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <ostream>
#include <vector>

#include "app/cli/command.h"
#include "app/commands/loading.h"
#include "app/commands/outputs.h"
#include "app/commands/ranks.h"
#include "app/console/destinations.h"
#include "app/console/interrupt.h"
#include "app/console/notes.h"
#include "app/console/output.h"
#include "app/console/watched.h"
#include "app/report/graph_report.h"
#include "classifier/subset_search.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr int usual_k = 10;

/// The files that are written as the graph is searched, those that were asked for.
class GraphFiles {
  public:
    explicit GraphFiles(const Options& options) {
        const GraphOptions& graph = options.graph;
        for (const char* ending : npy_endings)
            open(ending, graph.npy.empty() ? "" : graph.npy + ending);
        open("--csv", graph.csv);
        open("--mtx", graph.mtx);
        open("--json", options.output.json);
        open("--plot", graph.plot);
    }
    /// Null if the file was not asked for.
    std::ostream* operator[](const std::string& name) const {
        const auto found = streams_.find(name);
        return found != streams_.end() ? found->second : nullptr;
    }
    bool take_standard_output() const { return take_standard_output_; }
    void check() const { files_.check(); }
    void commit() { files_.commit(); }

  private:
    void open(const std::string& name, const std::string& file) {
        if (file.empty()) return;
        streams_[name] = &files_.open(file);
        take_standard_output_ = take_standard_output_ || is_standard_output(file);
    }

    OutputFiles files_;
    std::map<std::string, std::ostream*> streams_;
    bool take_standard_output_ = false;
};

void check_form(const Options& options) {
    if (!options.graph.npy.empty() && options.graph.form != GraphForm::directed)
        throw UsageError("--npy " + options.graph.npy + ": has k neighbors of each image, but --form " +
                         name(options.graph.form) + " has not; expected --mtx or --csv for that form");
}

/// The writers of the files that have rows; `edges` as GraphCounts has them.
std::vector<std::unique_ptr<GraphWriter>> open_writers(const GraphFiles& files, const GraphResult& result,
                                                       std::int64_t n, std::int64_t edges) {
    std::vector<std::unique_ptr<GraphWriter>> writers;
    const Measure& measure = result.method.measure;
    const int k = result.method.vote.k;
    if (std::ostream* out = files[npy_endings[0]]) writers.push_back(npy_indices(*out, n, k));
    if (std::ostream* out = files[npy_endings[1]]) writers.push_back(npy_distances(*out, n, k, measure));
    if (std::ostream* out = files["--csv"]) writers.push_back(graph_csv(*out, measure));
    if (std::ostream* out = files["--mtx"])
        writers.push_back(graph_matrix(*out, n, edges, result.form, measure));
    return writers;
}

/// Counts the rows of the graph and writes them to the files.
class RowSink {
  public:
    RowSink(const GraphFiles& files, GraphResult& result, const Training& training)
        : files_(files),
          result_(result),
          n_(training.rows.count),
          mutual_(n_),
          counter_(n_, result.form, training.labels) {
        if (result.form == GraphForm::directed)
            writers_ = open_writers(files, result, n_, n_ * result.method.vote.k);
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
        files_.check();
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
        writers_ = open_writers(files_, result_, n_, std::ssize(rows.edges) / 2);
        constexpr std::int64_t between_checks = 4096;
        for (std::int64_t i = 0; i < n_; ++i) {
            put(i, rows.row(i));
            if (i % between_checks != 0) continue;
            stop_if_asked();
            files_.check();
        }
    }

    const GraphFiles& files_;
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
    check_form(options);
    const Destinations outputs(options);
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
    require_others(result.method.vote.k, training.rows.count);
    check_size(options.graph, training.rows.count);
    if (std::ssize(result.pictures) > training.rows.count)
        result.pictures.resize(static_cast<std::size_t>(training.rows.count));
    const Resolved resolved = points.resolve(planner, result.method, training.rows.count);
    result.rows = training.shape.rows;
    result.cols = training.shape.cols;
    result.load_ms = points.load_ms();

    agree_on({training.rows}, training.labels);
    GraphFiles files(options);
    RowSink sink(files, result, training);
    const Index index(points.training(), result.method, resolved, stoppable());
    result.timeline = index.opening();
    const GraphSearch search = watched(options.output, "searching", [&](const Watch& watch) {
        return search_graph(index, result.timeline, watch,
                            [&](std::int64_t first, const Neighbors& part) { sink.take(first, part); });
    });
    result.search_ms = index.open_ms() + search.ms;
    result.plan = search.plan;
    sink.finish();
    result.wall_ms = ms_since(start);
    if (std::ostream* out = files["--json"]) *out << graph_json(result, training.labels);
    if (std::ostream* out = files["--plot"]) *out << graph_plot(result);
    files.commit();
    if (!files.take_standard_output() && !options.output.quiet) print(graph_text(result, training.labels));
    return 0;
}

}  // namespace knn
