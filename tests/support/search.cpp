#include "tests/support/search.h"

namespace knn::test {

namespace {

Plan plan_of(const Engine& engine, const Request& request) {
    Plan plan{.engine = engine.name, .device = cpu_device()};
    if (engine.on_gpu) plan.device = {.kind = Device::Kind::gpu};
    plan.distance = request.distance;
    plan.select = request.select;
    plan.batch = request.batch;
    plan.threads = request.threads;
    plan.sketch = request.sketch;
    return plan;
}

/// Throws UsageError if the engine refuses.
Plan configured(const Engine& engine, const Request& request) {
    Plan plan = plan_of(engine, request);
    if (const UnsupportedReason why = engine.configure(request.problem(), plan)) throw UsageError(*why);
    return plan;
}

}  // namespace

Results search(const Engine& engine, const Request& request, const ProgressToken& token) {
    const Resolved resolved{&engine, configured(engine, request), ""};
    const Index index(request.set != nullptr ? *request.set : TrainingSet(request.training()),
                      request.method(), resolved);
    Results found = index.search(request.queries(), {.vote = !request.train_labels.empty(), .token = token});
    Timeline whole = index.opening();
    whole.add(found.timeline);
    found.timeline = std::move(whole);
    found.search_ms += index.open_ms();
    return found;
}

Results search_on_cpu(const Request& request, const ProgressToken& token) {
    return search(*find_engine("cpu"), request, token);
}

UnsupportedReason refuse(const Engine& engine, const Request& request) {
    Plan plan = plan_of(engine, request);
    return engine.configure(request.problem(), plan);
}

std::unique_ptr<DeviceIndex> opened(const Engine& engine, const Request& request, Timeline& timeline) {
    return engine.open(request.training(), request.measure, configured(engine, request), timeline);
}

std::int64_t wrong_queries(const Neighbors& found, const Request& request, std::int64_t step) {
    return wrong_queries(found.rows, request.train, request.query, request.k, request.exclude,
                         request.measure, step);
}

std::int64_t wrong_votes(const Neighbors& neighbors, std::span<const Vote> votes, const Request& request) {
    if (std::ssize(votes) != neighbors.n_query) return neighbors.n_query + 1;
    std::int64_t wrong = 0;
    for (std::int64_t q = 0; q < neighbors.n_query; ++q)
        wrong += !(votes[static_cast<std::size_t>(q)] == vote(neighbors.row(q), request.train_labels,
                                                              request.weights, request.tie, request.measure));
    return wrong;
}

}  // namespace knn::test
