#include <algorithm>
#include <ctime>

#include "app/choose.h"
#include "app/commands/command.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/report/outputs.h"
#include "app/terminal.h"
#include "data/locate.h"

namespace knn {

namespace {

constexpr const char* synthetic_notice =
    "no data set found: using the built-in synthetic digits; 'mnist-knn info' tells how to get MNIST";

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts = {};
    gmtime_r(&now, &parts);
    char text[sizeof "2000-01-01T00:00:00Z" + 8];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::int64_t limited(std::int64_t count, std::int64_t limit) {
    return limit > 0 ? std::min(count, limit) : count;
}

SearchRequest request_for(const Dataset& data, const SearchOptions& options) {
    SearchRequest request;
    request.train = data.train.images().first(limited(data.train.count, options.limit_train));
    request.query = data.test.images().first(limited(data.test.count, options.limit_test));
    request.train_labels = data.train.labels.span().first(static_cast<std::size_t>(request.train.count));
    request.k = options.k;
    request.metric = options.metric;
    request.weights = options.weights;
    request.tie = options.tie;
    request.batch = options.batch;
    request.threads = options.threads;
    request.distance = options.distance;
    request.select = options.select;
    return request;
}

/// The answer of the engine, with a bar on the terminal until it is there.
SearchResult search(const Choice& choice, const SearchRequest& request, const OutputOptions& output) {
    constexpr int delay_ms = 300;
    const When wanted = output.quiet && output.progress == When::automatic ? When::never : output.progress;
    Progress progress(use_progress(wanted), wanted == When::always ? 0 : delay_ms);
    Watch watch;
    watch.stop = &stop_flag();
    watch.progress = [&](std::int64_t done, std::int64_t total) { progress.update(done, total); };
    return choice.engine->search(request, watch);
}

Settings settings_of(const Options& options, const Choice& choice, const SearchResult& found) {
    Settings settings;
    settings.k = options.search.k;
    settings.engine = choice.engine->name;
    settings.distance = found.distance;
    settings.select = found.select;
    settings.metric = name(options.search.metric);
    settings.weights = name(options.search.weights);
    settings.tie = name(options.search.tie);
    settings.device = choice.engine->on_gpu ? "gpu:" + std::to_string(choice.device) : "cpu";
    settings.threads = found.threads;
    settings.batch = found.batch;
    return settings;
}

void note(const std::string& text, const OutputOptions& output) {
    if (!output.quiet && !text.empty()) print_line_to_stderr("note: " + text);
}

}  // namespace

int evaluate(const Options& options, Clock::time_point start) {
    check_outputs(options.output);
    Chooser chooser(options.search);
    const DataLocation location = locate(options.data);

    // The CUDA context comes up on another thread while the files are read.
    const auto memory = host_memory(chooser.likely(), options.search.device_number);
    const auto load_start = Clock::now();
    const Dataset data = load(location, memory->resource());
    SearchRequest request = request_for(data, options.search);
    const Choice choice = chooser.choose(request);
    if (choice.engine->on_gpu) memory->pin();
    stop_if_asked();

    Evaluation evaluation;
    evaluation.load_ms = ms_since(load_start);
    if (location.synthetic) note(synthetic_notice, options.output);
    note(choice.notice, options.output);
    request.device = choice.device;
    evaluation.data = &data;
    evaluation.n_train = request.train.count;
    evaluation.n_test = request.query.count;
    evaluation.created = utc_now();
    evaluation.found = search(choice, request, options.output);
    evaluation.settings = settings_of(options, choice, evaluation.found);
    const auto truth = data.test.labels.span().first(static_cast<std::size_t>(request.query.count));
    evaluation.score = score(evaluation.found.votes, truth, data.labels);
    evaluation.wall_ms = ms_since(start);
    write_outputs(evaluation, options.output);
    return 0;
}

}  // namespace knn
