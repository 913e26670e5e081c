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
    return plan;
}

}  // namespace

Results search(const Engine& engine, const Request& request, const ProgressToken& token) {
    Resolved resolved{&engine, plan_of(engine, request), ""};
    if (const UnsupportedReason why = engine.configure(request.problem(), resolved.plan))
        throw UsageError(*why);
    const Index index(request.set != nullptr ? *request.set : TrainingSet(request.training()),
                      request.method(), resolved);
    Results found = index.search(queries_of(request.query, request.exclude, request.train), {.token = token});
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

}  // namespace knn::test
