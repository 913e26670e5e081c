#include "classifier/plan.h"

#include "data/core/errors.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

UnsupportedReason configure_anything(const Problem&, Plan& plan) {
    plan.threads = 3;
    return std::nullopt;
}
UnsupportedReason configure_no_angles(const Problem& problem, Plan& plan) {
    const bool angle = problem.measure.metric == Metric::cosine || problem.measure.metric == Metric::pearson;
    return angle ? UnsupportedReason("the second knows no angles") : configure_anything(problem, plan);
}
UnsupportedReason configure_squares(const Problem& problem, Plan& plan) {
    if (plan.device.number == 8) return "the first needs a better card";
    if (UnsupportedReason refusal = refuse_all_but_l2("the first", problem)) return refusal;
    return configure_anything(problem, plan);
}

const std::vector<Engine> table = {{"tensor", "", true, configure_squares, nullptr},
                                   {"classic", "", true, configure_no_angles, nullptr},
                                   {"cpu", "", false, configure_anything, nullptr}};

const Machine with_gpus = {{{.name = "a", .kind = Device::Kind::gpu, .number = 7},
                            {.name = "b", .kind = Device::Kind::gpu, .number = 8}},
                           "",
                           {.name = "c"}};
const Machine without_gpu = {{}, "no driver", {.name = "c"}};

Resolved resolved(const PlanRequest& request, Metric metric = Metric::l2,
                  const Machine& machine = with_gpus) {
    return resolve(request, {100, 10, 5, 3, {metric, 3}}, machine, table);
}

PlanRequest device(DeviceKind kind, std::optional<int> number = {}) {
    PlanRequest request;
    request.device = {kind, number};
    return request;
}

}  // namespace

TEST_CASE("plan: without a wish the default engine runs, and another where it cannot") {
    const Resolved plain = resolved({});
    CHECK(plain.plan.engine == "classic");
    CHECK(plain.engine == &table[1]);
    CHECK(plain.plan.device.number == 7);
    CHECK(plain.plan.threads == 3);  // configured by the engine
    CHECK(plain.notice.empty());
    const Resolved angles = resolved({}, Metric::cosine);
    CHECK(angles.plan.engine == "cpu");
    CHECK(angles.plan.device.name == "c");
    CHECK(angles.notice == "not on the GPU (the second knows no angles): searching on the CPU");
}

TEST_CASE("plan: auto takes the first that answers the problem on the device that was chosen") {
    PlanRequest request;
    request.engine = "auto";
    CHECK(resolved(request).plan.engine == "tensor");
    CHECK(resolved(request, Metric::l1).plan.engine == "classic");
    CHECK(resolved(request, Metric::pearson).plan.engine == "cpu");
    PlanRequest kernels = request;  // which the CPU does not have: its selector is the serial search
    kernels.select = "replace_max";
    CHECK(resolved(kernels).plan.engine == "tensor");
    CHECK_THROWS_AS(resolved(kernels, Metric::pearson), UsageError);
    request.device = {DeviceKind::gpu, 8};
    CHECK(resolved(request).plan.engine == "classic");  // the other card has no use for the first
    CHECK(resolved(request).plan.device.name == "b");
}

TEST_CASE("plan: what the user named is not replaced") {
    PlanRequest request;
    request.engine = "tensor";
    CHECK_THROWS_WITH_AS(
        resolved(request, Metric::cosine),
        "the first computes l2 distances only; expected another metric or kernel, or §device cpu",
        UsageError);
    PlanRequest kernel;
    kernel.distance = "float4";
    CHECK(resolved(kernel).plan.distance == "float4");
    CHECK_THROWS_AS(resolved(kernel, Metric::cosine), UsageError);
    for (const PlanRequest& gpu : {device(DeviceKind::gpu), device(DeviceKind::gpu, 7)}) {
        CHECK(resolved(gpu, Metric::l1).plan.engine == "classic");
        CHECK_THROWS_AS(resolved(gpu, Metric::cosine), UsageError);
    }
}

TEST_CASE("plan: more neighbors than an engine finds") {
    std::vector<Engine> limited = table;
    limited[0].can.max_k = limited[1].can.max_k = 1024;
    const auto resolved_for = [&](const PlanRequest& request, int k) {
        return resolve(request, {20'000, 10, 5, k, {}}, with_gpus, limited);
    };
    CHECK(resolved_for({}, 1024).plan.engine == "classic");
    const Resolved many = resolved_for({}, 1025);
    CHECK(many.plan.engine == "cpu");
    CHECK(many.notice == "not on the GPU (classic finds at most 1,024 neighbors): searching on the CPU");
    CHECK(resolved_for({}, max_k).plan.engine == "cpu");
    CHECK_THROWS_WITH_AS(resolved_for(device(DeviceKind::gpu), 1025),
                         "classic finds at most 1,024 neighbors; expected a smaller k, or §engine auto",
                         UsageError);
    CHECK_THROWS_WITH_AS(resolved_for({}, max_k + 1), "k = 16385 is out of range; expected at most 16384",
                         UsageError);
}

TEST_CASE("plan: without a GPU the CPU searches and says so, unless a GPU was asked for") {
    PlanRequest request;
    request.batch = 12;
    for (const char* engine : {"", "auto"}) {
        if (*engine != '\0') request.engine = engine;
        const Resolved cpu = resolved(request, Metric::l2, without_gpu);
        CHECK(cpu.plan.engine == "cpu");
        CHECK(cpu.plan.batch == 12);
        CHECK(cpu.notice == "no GPU (no driver): searching on the CPU");
    }
    for (const char* engine : {"tensor", "classic"}) {
        request.engine = engine;
        CHECK_THROWS_WITH_AS(
            resolved(request, Metric::l2, without_gpu),
            doctest::Contains(": no GPU: no driver; expected an NVIDIA GPU with its driver and a build with "
                              "CUDA, or §engine cpu"),
            DeviceError);
    }
    PlanRequest kernels;
    kernels.select = "bitonic";
    CHECK_THROWS_WITH_AS(resolved(kernels, Metric::l2, without_gpu),
                         doctest::Contains("§select bitonic: no GPU: "), DeviceError);
    kernels.distance = "float4";
    CHECK_THROWS_WITH_AS(resolved(kernels, Metric::l2, without_gpu),
                         doctest::Contains("§distance float4: no GPU: "), DeviceError);
    CHECK_THROWS_AS(resolved(device(DeviceKind::gpu), Metric::l2, without_gpu), DeviceError);
    CHECK_THROWS_WITH_AS(resolved(device(DeviceKind::gpu, 3)), doctest::Contains("gpu:7 to gpu:8"),
                         DeviceError);
}

TEST_CASE("plan: the CPU runs where it is asked for, and nothing that needs a GPU with it") {
    CHECK(resolved(device(DeviceKind::cpu)).plan.engine == "cpu");
    CHECK(resolved(device(DeviceKind::cpu)).notice.empty());
    PlanRequest request = device(DeviceKind::cpu);
    request.engine = "tensor";
    CHECK_THROWS_AS(resolved(request), UsageError);
    request.engine = "cpu";
    CHECK(resolved(request).plan.engine == "cpu");
    request.device.kind = DeviceKind::gpu;
    CHECK_THROWS_AS(resolved(request), UsageError);
    request = device(DeviceKind::cpu);
    request.distance = "float4";
    CHECK_THROWS_AS(resolved(request), UsageError);
}

TEST_CASE("plan: a problem that no engine answers is refused before any is asked") {
    CHECK_THROWS_WITH_AS(resolve({}, {10, 5, 4, 11}, with_gpus, table), doctest::Contains("k = 11"),
                         UsageError);
    CHECK_THROWS_WITH_AS(resolve({}, {10, 0, 4, 1}, with_gpus, table),
                         doctest::Contains("no images to classify"), UsageError);
}

TEST_CASE("plan: names of devices") {
    CHECK(DeviceRequest{}.text() == "auto");
    CHECK(DeviceRequest{DeviceKind::gpu, {}}.text() == "gpu");
    CHECK(DeviceRequest{DeviceKind::gpu, 2}.text() == "gpu:2");
    CHECK(DeviceRequest{DeviceKind::gpu, 0, {2, 3}}.text() == "gpu:0,2,3");
    CHECK(DeviceRequest{DeviceKind::gpu, {}, {}, true}.text() == "gpu:all");
}

TEST_CASE("plan: reals, and more neighbors than GPUs find, are for the CPU") {
    std::vector<Engine> engines = table;
    engines[0].can.max_k = engines[1].can.max_k = max_device_k;
    engines[2].can.reals = true;
    const Problem reals{2000, 10, 5, 3, {.real = true}, ElementType::float32}, many{2000, 10, 5, 1025};
    for (const Problem& problem : {reals, many}) {
        PlanRequest request;
        for (const char* automatic : {"", "auto"}) {
            if (*automatic != 0) request.engine = automatic;
            const Resolved found = resolve(request, problem, with_gpus, engines);
            CHECK(found.plan.engine == "cpu");
            CHECK(found.notice.starts_with("not on the GPU ("));
        }
        for (const char* named : {"classic", "tensor"}) {
            request.engine = named;
            CHECK_THROWS_WITH_AS(resolve(request, problem, with_gpus, engines),
                                 doctest::Contains(problem.k > 3 ? "finds at most 1,024 neighbors; expected"
                                                                 : "searches rows of uint8, not of float32"),
                                 UsageError);
        }
        CHECK_THROWS_AS(resolve(device(DeviceKind::gpu), problem, with_gpus, engines), UsageError);
    }
}

TEST_CASE("plan: an engine on a GPU finds the neighbors of reals, and the host does the rest") {
    const Engine gpu{"tensor", "", true, configure_anything, nullptr, {true, true, true, true, true, 1024}};
    const std::vector<std::uint8_t> elements(80), labels(10);
    for (const ElementType type : {ElementType::uint8, ElementType::float64}) {
        const Training training{.rows = {elements.data(), 10, 1, type}, .labels = labels};
        const bool bytes = type == ElementType::uint8;
        CHECK((stages_of({}, gpu, {}, training).vote == StagePlace::device) == bytes);
    }
    CHECK(gpu.can_with(false).known);
    CHECK_FALSE(gpu.can_with(true).known);
    CHECK(gpu.can_with(true).max_k == 1024);
}

TEST_CASE("plan: several GPUs, the first of which is the device") {
    const auto several = [](std::vector<int> numbers, Placement spread = Placement::automatic,
                            std::int64_t n_query = 1'000) {
        PlanRequest request = device(DeviceKind::gpu, numbers.front());
        request.device.others.assign(numbers.begin() + 1, numbers.end());
        request.placement = spread;
        return resolve(request, {100, n_query, 5, 3, {Metric::l1, 2}}, with_gpus, table).plan;
    };
    const Plan two = several({8, 7});
    CHECK(two.device.number == 8);
    REQUIRE(two.devices.size() == 2);
    CHECK(two.devices[1].number == 7);
    CHECK(two.placement == Placement::replicate);
    CHECK(several({7, 8}, Placement::automatic, 10).placement == Placement::shard);  // few queries
    CHECK(several({7, 8}, Placement::shard).placement == Placement::shard);
    CHECK(several({7}).devices.empty());
    CHECK(several({7}).placement == Placement::automatic);
    CHECK_THROWS_AS(several({7, 9}), DeviceError);
    PlanRequest all = device(DeviceKind::gpu);
    all.device.all = true;
    CHECK(resolved(all).plan.devices.size() == 2);
    all.engine = "tensor";  // which the second card lacks
    CHECK_THROWS_WITH_AS(resolved(all), doctest::Contains("gpu:8: the first needs a better card"),
                         UsageError);
    CHECK_THROWS_AS(resolved(all, Metric::l2, without_gpu), DeviceError);
    Plan limited = two;
    limited.memory = 499;  // one byte less than the images
    CHECK(placement_for({100, 1'000, 5, 3}, limited, 2) == Placement::shard);
    limited.memory = 500;
    CHECK(placement_for({100, 1'000, 5, 3}, limited, 2) == Placement::replicate);
}
