#include "tests/support/search.h"

namespace knn::test {

namespace {

Plan plan_of(const Engine& engine, const Request& request, int device) {
    Plan plan{.engine = engine.name, .device = cpu_device()};
    if (engine.on_gpu) plan.device = {.kind = Device::Kind::gpu, .number = device};
    plan.distance = request.distance;
    plan.select = request.select;
    plan.batch = request.batch;
    plan.threads = request.threads;
    return plan;
}

}  // namespace

Classified search(const Engine& engine, const Request& request, const Watch& watch, int device) {
    Resolved resolved{&engine, plan_of(engine, request, device), ""};
    if (const Refusal why = engine.settle(request.problem(), resolved.plan)) throw UsageError(*why);
    Classifier classifier(request.set != nullptr ? *request.set : TrainingSet(request.training()),
                          request.method(), resolved);
    Classified found = classifier.classify(request.query, watch, request.exclude);
    Timeline whole = classifier.opening();
    whole.add(found.timeline);
    found.timeline = std::move(whole);
    found.search_ms += classifier.open_ms();
    return found;
}

Classified search_on_cpu(const Request& request, const Watch& watch) {
    return search(*find_engine("cpu"), request, watch);
}

Refusal refuse(const Engine& engine, const Request& request, int device) {
    Plan plan = plan_of(engine, request, device);
    return engine.settle(request.problem(), plan);
}

}  // namespace knn::test
