/// Random problems on all engines of a machine with a GPU: every neighbor, every vote, byte for byte.
///
///     fuzz_gpu SECONDS [SEED]
///
/// Each problem (random_problem.h) goes to the engine `cpu`, to `tensor` with each of its kernels, with and without sketches, and to `classic` with
/// each distance kernel and each selector in turn, as far as they take it; every third in parts of the training set. Ends
/// with 1 at the first difference, and prints the seed that makes it again.

#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "classifier/engines.h"
#include "data/core/clock.h"
#include "data/core/errors.h"
#include "tests/fuzz/random_problem.h"

namespace knn {

namespace {

constexpr double slow_ms = 5000;

using test::Found, test::found, test::difference;

/// Every kernel once, the selectors in turn, and the other way around.
std::vector<Plan> plans(const Device& device, std::int64_t batch, std::uint64_t turn) {
    std::vector<Plan> all;
    const auto add = [&](const char* engine, const std::string& distance, const std::string& select,
                         SketchColumns sketch = SketchColumns::off) {
        all.push_back({.engine = engine,
                       .device = device,
                       .distance = distance,
                       .select = select,
                       .batch = batch,
                       .sketch = sketch});
    };
    for (const Strategy& kernel : tensor_kernels())
        for (const SketchColumns sketch : {SketchColumns::off, SketchColumns::c128})
            add("tensor", kernel.name, "", sketch);
    std::vector<Strategy> distances = distance_kernels(), selects = selectors();
    std::erase_if(selects, [](const Strategy& one) { return !one.on_gpu; });
    for (std::size_t i = 0; i < std::max(distances.size(), selects.size()); ++i)
        add("classic", distances[(i + turn) % distances.size()].name, selects[i % selects.size()].name);
    return all;
}

/// 0 seconds: one problem.
int run(double seconds, std::uint64_t seed) {
    const std::vector<Device> devices = gpus();
    if (devices.empty()) throw DeviceError("fuzz_gpu: there is no GPU");
    const auto start = Clock::now();
    std::int64_t problems = 0, searches = 0, refused = 0, of_itself = 0, in_parts = 0;
    const auto is_over = [&] { return seconds > 0 && ms_since(start) >= 1000 * seconds; };
    for (; problems == 0 || (seconds > 0 && !is_over()); ++problems, ++seed) {
        const test::RandomProblem problem = test::random_problem(seed);
        const std::optional<Found> expected =
            found(problem, {.engine = "cpu", .device = cpu_device(), .threads = 0});
        if (!expected) continue;
        of_itself += problem.query_rows().pixels == problem.train_rows().pixels;
        in_parts += seed % 3 == 1;
        for (Plan plan : plans(devices.front(), problem.batch, seed)) {
            if (is_over()) break;
            if (problem.method.vote.k > find_engine(plan.engine)->can.max_k) continue;
            if (seed % 3 == 1)
                plan.memory = std::max<std::int64_t>(
                    std::ssize(problem.train) / static_cast<std::int64_t>(2 + seed % 6), 1);
            const std::string kernels = plan.engine + ' ' + plan.distance + ' ' + plan.select;
            const auto begin = Clock::now();
            const std::optional<Found> here = found(problem, plan);
            if (const double ms = ms_since(begin); ms > slow_ms)
                std::cerr << "seed " << seed << ": " << kernels << " took " << ms / 1000 << " s\n";
            refused += !here;
            if (!here) continue;
            ++searches;
            const std::string differs = difference(*expected, *here);
            if (differs.empty()) continue;
            std::cout << "seed " << seed << ": " << problem.text() << '\n'
                      << kernels << ": " << differs << '\n';
            return 1;
        }
    }
    std::cout << problems << " problems (" << of_itself << " of a set with itself, " << in_parts
              << " in parts), " << searches << " searches on the GPU, " << refused
              << " refused, no difference\n";
    return 0;
}

}  // namespace

}  // namespace knn

int main(int argc, char** argv) {
    try {
        if (argc < 2) throw knn::UsageError("usage: fuzz_gpu SECONDS [SEED]; 0 seconds: one problem");
        return knn::run(std::atof(argv[1]), argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
    } catch (const std::exception& error) {
        std::cerr << "fuzz_gpu: " << error.what() << '\n';
        return 2;
    }
}
