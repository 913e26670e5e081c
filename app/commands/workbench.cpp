#include "app/commands/workbench.h"

#include <chrono>

#include "app/console/interrupt.h"
#include "app/console/output.h"
#include "app/console/watched.h"
#include "app/report/format.h"

namespace knn {

namespace {

using Clock = std::chrono::steady_clock;

/// Over the whole test set, or the first images of it.
SearchRequest request_for(const Dataset& data, const SearchOptions& options) {
    SearchRequest request = search_request(options, data.train.images(), data.train.labels.span());
    const Rows test = data.test.images();
    request.query = test.first(options.limit_test > 0 ? options.limit_test : test.count);
    return request;
}

}  // namespace

Workbench::Workbench(Chooser& chooser, const DataLocation& location, const Options& options)
    : options_(options) {
    // The CUDA context comes up on another thread while the files are read.
    memory_ = host_memory(chooser.likely(), options.search.device_number);
    const auto start = Clock::now();
    data_ = load(location, memory_->resource());
    request_ = request_for(data_, options.search);
    choice_ = chooser.choose(request_);
    request_.device = choice_.device;
    if (choice_.engine->on_gpu) memory_->pin();
    stop_if_asked();
    load_ms_ = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    note(data_notice(location));
    note(choice_.notice);
}

SearchResult Workbench::search(const Rows& query) const {
    SearchRequest request = request_;
    request.query = query;
    return watched(options_.output, "searching",
                   [&](const Watch& watch) { return choice_.engine->search(request, watch); });
}

Settings Workbench::settings(const SearchResult& found) const {
    Settings settings;
    settings.k = request_.k;
    settings.engine = choice_.engine->name;
    settings.distance = found.distance;
    settings.select = found.select;
    settings.metric = name(request_.metric);
    settings.p = request_.p;
    settings.weights = name(request_.weights);
    settings.tie = name(request_.tie);
    settings.device = choice_.engine->on_gpu ? "gpu:" + std::to_string(choice_.device) : "cpu";
    settings.threads = found.threads;
    settings.batch = found.batch;
    return settings;
}

Evaluation evaluation_of(const Workbench& bench) {
    const SearchRequest& request = bench.request();
    const Dataset& data = bench.data();
    Evaluation evaluation;
    evaluation.load_ms = bench.load_ms();
    evaluation.data = &data;
    evaluation.n_train = request.train.count;
    evaluation.n_test = request.query.count;
    evaluation.created = utc_now();
    evaluation.found = bench.search(request.query);
    evaluation.settings = bench.settings(evaluation.found);
    const auto truth = data.test.labels.span().first(static_cast<std::size_t>(request.query.count));
    evaluation.score = score(evaluation.found.votes, truth, data.labels);
    return evaluation;
}

std::string data_notice(const DataLocation& location) {
    std::string incomplete;
    for (const std::string& place : location.incomplete)
        incomplete += (incomplete.empty() ? "" : "; ") + place;
    if (!location.synthetic) return incomplete.empty() ? "" : incomplete + ": using " + location.source;
    if (location.looked_in.empty()) return "";  // the user asked for them
    return (incomplete.empty() ? "no data set found" : "no complete data set found (" + incomplete + ")") +
           ": using the built-in synthetic digits; 'mnist-knn info' tells how to get MNIST";
}

void note(const std::string& text) {
    if (!text.empty()) print_line_to_stderr("note: " + text);
}

void note(const std::string& text, const OutputOptions& output) {
    if (!output.quiet) note(text);
}

}  // namespace knn
