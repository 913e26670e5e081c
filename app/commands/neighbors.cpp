#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/cli/command_line.h"
#include "app/commands/loading.h"
#include "app/commands/neighbors_files.h"
#include "app/commands/ranks.h"
#include "app/console/console.h"
#include "app/report/json.h"
#include "app/report/text.h"
#include "classifier/exact_distances.h"
#include "classifier/graph.h"
#include "classifier/host.h"
#include "classifier/range_search.h"
#include "data/core/format.h"
#include "data/core/round_up.h"
#include "data/vectors/sets.h"
#include "data/vectors/vectors.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t rows_in_text = 10;
constexpr std::size_t neighbors_in_text = 5;

/// The vectors of the command, of one type and with as many columns.
class SearchedVectors {
  public:
    explicit SearchedVectors(const Options& options) : options_(options), planner_(options.request) {
        const NeighborsOptions& n = options.neighbors;
        std::vector<std::filesystem::path> files = {n.train};
        if (!n.queries.empty()) files.emplace_back(n.queries);
        check_outputs(output_places(options), files);
        const auto start = Clock::now();
        memory_ = host_memory(planner_.likely_engine(), planner_.likely_device());
        const auto read = [&](const std::string& file, std::int64_t unlabeled) {
            return load_vectors(file, {.label_column = n.label_column,
                                       .threads = options.request.threads,
                                       .free_bytes = available_bytes(),
                                       .memory = memory_->resource(),
                                       .unlabeled = unlabeled});
        };
        train_ = read(n.train, 0);
        if (!are_own()) {
            queries_ = read(n.queries, train_.dim);
            check_same_columns(train_, queries_);
            const ElementType type = common_type(train_.type, queries_.type);
            for (VectorSet* one : {&train_, &queries_}) {
                if (one->type != type) one->elements = converted(one->rows(), type, memory_->resource());
                one->type = type;
            }
        }
        check_label_column(n.label_column, train_, are_own() ? nullptr : &queries_);
        stop_if_asked();
        load_ms_ = ms_since(start);
    }

    bool are_own() const { return options_.neighbors.queries.empty(); }
    const VectorSet& train() const { return train_; }
    const VectorSet& queries() const { return are_own() ? train_ : queries_; }
    std::int64_t n_query() const { return queries().count; }
    double load_ms() const { return load_ms_; }
    double transform_ms() const { return transform_ms_; }

    /// What is compared: the rows, or what the transform makes of them. Throws UsageError, DataError, Interrupted.
    void transform(const Method& method, Timeline& timeline, const ProgressToken& token) {
        const ImageShape shape =
            train_.are_images() ? train_.shape : ImageShape{1, static_cast<int>(train_.dim)};
        if (const std::string part = method.part_for_images(); !train_.are_images() && !part.empty())
            throw DataError(not_images(train_.source, train_.count, train_.dim) + " for " + part);
        set_.emplace(Training{train_.rows(), {}, shape});
        compared_queries_ = queries().rows();
        method.problem(set_->view(), n_query());  // throws where the transform does not suit
        const int threads = threads_or_all(options_.request.threads);
        check_elements(train_.source, train_.rows(), method, threads);
        if (!are_own()) check_elements(queries_.source, queries_.rows(), method, threads);
        if (!method.transform.is_raw()) {
            const auto start = Clock::now();
            const Features& made = set_->features(method.transform, threads, token.stop, timeline);
            if (!are_own()) {
                const auto queries_start = Clock::now();
                query_features_ = features(made.transform, queries_.rows(), threads, token.stop);
                timeline.add({.name = "transform",
                              .launches = 1,
                              .total_ms = ms_since(queries_start),
                              .bytes = static_cast<double>(queries_.rows().bytes()) +
                                       static_cast<double>(query_features_.size())});
            }
            compared_queries_ =
                are_own() ? made.rows
                          : Rows{query_features_.data(), queries_.count, made.rows.dim, made.rows.type};
            check_elements(queries().source + " by --transform " + method.transform.text(), compared_queries_,
                           method.measure, made.rows.dim, threads);
            original_ = std::move(set_);
            set_.emplace(Training{made.rows, {}, {}});
            transform_ms_ = ms_since(start);
        }
    }
    const TrainingSet& compared() const { return *set_; }

    Queries queries(std::int64_t first, std::int64_t n) const {
        if (options_.neighbors.exclude_self) return Queries::some_of(set_->images(), first, n);
        return compared_queries_.slice(first, n);
    }

    Resolved resolve(const Method& method) {
        Resolved resolved = planner_.resolve(method.problem(set_->view(), n_query()));
        if (resolved.engine->on_gpu) memory_->pin();
        note(resolved.notice, options_.output);
        return resolved;
    }

  private:
    const Options& options_;
    Planner planner_;
    std::unique_ptr<HostMemory> memory_;
    VectorSet train_, queries_;
    std::optional<TrainingSet> set_, original_;  ///< what is compared, and what it was made of
    std::vector<std::uint8_t> query_features_;
    Rows compared_queries_;
    double load_ms_ = 0, transform_ms_ = 0;
};

struct Found {
    const SearchedVectors& vectors;
    const NeighborsOptions& options;
    Method method;  ///< its vote has k
    Plan plan = {};
    Timeline timeline = {};
    double search_ms = 0, wall_ms = 0;
    std::int64_t n_rows = 0;                         ///< queries so far
    std::int64_t pairs = 0;                          ///< of a query and a neighbor
    std::int64_t fewest = 0, most = 0, without = 0;  ///< neighbors of a query; queries that have none
    std::vector<std::string> lines = {};             ///< of the first queries

    int k() const { return method.vote.k; }
    Measure measure() const { return measure_of(method.measure, vectors.compared().images().type); }
};

std::string number_text(const Measure& measure, double distance) {
    if (is_integral(measure)) return with_commas(static_cast<std::int64_t>(distance));
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, distance, std::chars_format::general, 6).ptr};
}

std::string line(const Measure& measure, const FoundRow& row) {
    std::string text;
    for (std::size_t i = 0; i < std::min(row.indices.size(), neighbors_in_text); ++i)
        text += std::string(text.empty() ? "" : "  ") + std::to_string(row.indices[i]) + " (" +
                number_text(measure, row.distances[i]) + ")";
    if (row.indices.size() > neighbors_in_text)
        text += "  and " + with_commas(std::ssize(row.indices) - std::int64_t{neighbors_in_text}) + " more";
    return text.empty() ? "none" : text;
}

void round_for_files(const Measure& measure, std::span<double> distances) {
    for (double& distance : distances)
        distance = number_for_files(measure, distance);
}

void take(const FoundRow& row, Found& found, NeighborsFiles& files) {
    const std::int64_t n = std::ssize(row.indices);
    found.fewest = found.n_rows++ == 0 ? n : std::min(found.fewest, n);
    found.most = std::max(found.most, n);
    found.without += n == 0 ? 1 : 0;
    found.pairs += n;
    if (found.n_rows <= rows_in_text) found.lines.push_back(line(found.measure(), row));
    files.take(row);
}

void search_k(const Index& index, Found& found, int threads, const ProgressToken& token,
              NeighborsFiles& files) {
    const Rows& train = found.vectors.compared().images();
    const std::int64_t all = found.vectors.n_query(), most = points_of_part(train, found.k());
    std::vector<std::uint32_t> indices(at(found.k()));
    for (std::int64_t first = 0; first < all; first += most) {
        const Queries part = found.vectors.queries(first, std::min(most, all - first));
        const auto start = Clock::now();
        const Results results = index.search(part, {.vote = false, .token = token.part(first, all)});
        Uninitialized<double> distances =
            exact_distances(train, part.rows, results.neighbors, found.measure(), threads, token.quiet());
        found.search_ms += ms_since(start);
        found.timeline.add(results.timeline);
        found.plan = results.plan;
        for (std::int64_t q = 0; q < part.count(); ++q) {
            std::ranges::transform(results.neighbors.row(q), indices.begin(), &Neighbor::index);
            const auto row = std::span(distances).subspan(at(q * found.k()), indices.size());
            round_for_files(found.measure(), row);
            take({indices, row}, found, files);
        }
        files.check();
    }
}

void search_range(RangeSearch& search, Found& found, const ProgressToken& token, NeighborsFiles& files) {
    constexpr std::int64_t most = 8192;
    const std::int64_t all = found.vectors.n_query();
    for (std::int64_t first = 0; first < all; first += most) {
        const Queries part = found.vectors.queries(first, std::min(most, all - first));
        search.search(part, found.timeline, token.part(first, all), [&](RowsWithin& row) {
            round_for_files(found.measure(), row.distances);
            take({row.rows, row.distances}, found, files);
        });
        files.check();
    }
    found.search_ms += search.search_ms();
    found.plan = search.plan();
}

std::string vectors_text(const VectorSet& set) {
    return harmless(set.source) + ": " + counted(set.count, "row") + " of " + counted(set.dim, "column") +
           ", " + name(set.type);
}

std::string neighbors_text(const Found& found, bool with_rows) {
    const SearchedVectors& vectors = found.vectors;
    const bool leaves_out = found.options.exclude_self;
    std::string counts;
    if (found.options.range)
        counts = with_commas(found.fewest) + " to " + with_commas(found.most) + " of a query; " +
                 counted(found.without, "query") + " without";
    const std::string queries = !vectors.are_own() ? vectors_text(vectors.queries())
                                : leaves_out       ? "each of these rows, which is not its own neighbor"
                                                   : "each of these rows";
    const std::string wanted = found.options.range ? "all within " + shortest(*found.options.range)
                                                   : "k = " + std::to_string(found.k());
    std::string text = facts_text({{"train", vectors_text(vectors.train())},
                                   {"queries", queries},
                                   {"device", device_text(found.plan.device)},
                                   {"spread", spread_text(found.plan)},
                                   {"engine", engine_text(found.plan)},
                                   {"settings", features_text(found.method.transform) + wanted + ", metric " +
                                                    metric_text(found.method.measure)},
                                   {"neighbors", counts},
                                   {"time", times_text(found.search_ms, vectors.load_ms(), found.wall_ms)}});
    if (!with_rows) return text;
    Facts rows = {{"query", "neighbors, each with its " + distance_name(found.method)}};
    for (std::size_t i = 0; i < found.lines.size(); ++i)
        rows.emplace_back(std::to_string(i), found.lines[i]);
    text += '\n' + facts_text(rows);
    const std::int64_t more = vectors.n_query() - std::ssize(found.lines);
    if (more > 0) text += "and " + with_commas(more) + " more; --csv FILE has all\n";
    return text;
}

Json vectors_json(const VectorSet& set) {
    return {{"source", report_path(set.source)},
            {"count", set.count},
            {"columns", set.dim},
            {"type", name(set.type)}};
}

std::string neighbors_report(const Found& found) {
    const SearchedVectors& vectors = found.vectors;
    Json settings = neighbor_settings_json(found.method, found.plan);
    if (found.options.range) {
        settings.erase("k");
        settings["range"] = *found.options.range;
    }
    settings["exclude_self"] = found.options.exclude_self;
    Json json = json_head("mnist-knn/neighbors/1");
    json.update({{"created", utc_now()},
                 {"train", vectors_json(vectors.train())},
                 {"queries", vectors.are_own() ? Json(nullptr) : vectors_json(vectors.queries())},
                 {"settings", std::move(settings)},
                 {"device", json_device(found.plan.device)},
                 {"result",
                  {{"queries", vectors.n_query()},
                   {"pairs", found.pairs},
                   {"fewest", found.fewest},
                   {"most", found.most},
                   {"without", found.without}}},
                 {"timing", timing_json(found.timeline, vectors.n_query(), found.search_ms, vectors.load_ms(),
                                        found.wall_ms)}});
    return json_text(json);
}

void check_count(const NeighborsOptions& options, const SearchedVectors& vectors) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (const auto& [option, file] : {std::pair("--npy ", options.npy), std::pair("--npz ", options.npz),
                                       std::pair("--ibin ", options.ibin)})
        if (!file.empty() && std::max(vectors.train().count, vectors.n_query()) > most)
            throw UsageError(option + file + ": its indices are int32; expected at most " +
                             with_commas(most) + " rows");
}

}  // namespace

int neighbors(const Options& options, Clock::time_point start) {
    if (options.neighbors.train.empty())
        throw UsageError("--train: is missing; expected --train FILE, the vectors to search");
    const NeighborsOptions& wanted = options.neighbors;
    SearchedVectors vectors(options);
    check_count(wanted, vectors);
    const std::int64_t n = vectors.train().count, candidates = n - (wanted.exclude_self ? 1 : 0);
    const int k = wanted.range ? RangeSearch::first_k(std::max<std::int64_t>(candidates, 1))
                               : given_k(options, candidates);
    if (wanted.exclude_self)
        require_others(k, n);
    else if (const UnsupportedReason why = refuse_k(k, n))
        throw UsageError(*why);
    Found found{vectors,
                wanted,
                {.transform = options.method.transform, .measure = options.method.measure, .vote = {.k = k}}};
    vectors.transform(found.method, found.timeline, stoppable());
    const Method compared{.measure = found.method.measure, .vote = {.k = k}};
    const Resolved resolved = vectors.resolve(compared);
    agree_on({vectors.train().rows(), {}}, vectors.queries().rows());
    NeighborsFiles files(wanted, {vectors.n_query(), n, k, found.measure()});
    const Index index(vectors.compared(), compared, resolved, stoppable());
    found.timeline.add(index.opening());
    found.search_ms = vectors.transform_ms() + index.open_ms();
    const int threads = threads_or_all(options.request.threads);
    with_progress(options.output, "searching", [&](const ProgressToken& token) {
        if (!wanted.range) return search_k(index, found, threads, token, files);
        RangeSearch search(index, *wanted.range, resolved.engine->can.max_k, threads);
        search_range(search, found, token, files);
    });
    OutputFiles& written = files.finish();
    found.wall_ms = ms_since(start);
    if (!options.output.json.empty()) written.open(options.output.json) << neighbors_report(found);
    written.commit();
    if (!options.output.quiet && !written.has_standard_output())
        print(neighbors_text(found, output_places(options).empty()));
    return 0;
}

}  // namespace knn
