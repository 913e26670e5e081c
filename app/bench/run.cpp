#include "app/bench/run.h"

#include <algorithm>

#include "app/console/interrupt.h"
#include "app/console/terminal.h"
#include "cpu/search.h"

namespace knn {

BenchRun::BenchRun(const Options& options)
    : options_(options),
      progress_(use_progress(options.output.quiet && options.output.progress == When::automatic
                                 ? When::never
                                 : options.output.progress),
                0, "measuring") {
    watch_.stop = &stop_flag();
    find_gpu();
    report_.devices.push_back(cpu_device());
    if (has_gpu()) report_.limits = gpu_bench()->limits(device_);
    stop_if_asked();
    report_.cpu_copy_gb_per_s = cpu::copy_gb_per_s();
}

void BenchRun::find_gpu() {
    const std::string& wanted = options_.search.device;
    if (wanted == "cpu") {
        why_no_gpu_ = "--device cpu was given";
        leave_out("GPU", why_no_gpu_);
        return;
    }
    std::string why;
    const std::vector<Device> all = gpus(&why);
    const bool numbered = wanted.starts_with("gpu:");
    const auto found = std::find_if(all.begin(), all.end(), [&](const Device& gpu) {
        return !numbered || gpu.number == options_.search.device_number;
    });
    if (found != all.end()) {
        device_ = found->number;
        report_.gpu = "gpu:" + std::to_string(device_);
        report_.devices.push_back(*found);
        return;
    }
    if (wanted != "auto")
        throw DeviceError("--device " + wanted + ": no such GPU" + (why.empty() ? "" : ": " + why) +
                          "; expected an NVIDIA GPU with its driver, or --device cpu");
    why_no_gpu_ = "there is none";
    leave_out("GPU", why_no_gpu_ + " (" + why + ")");
}

bool BenchRun::wants(const std::string& name) const {
    return is_wanted(options_.bench, name);
}

TrialOptions BenchRun::trial(double share) const {
    TrialOptions options;
    options.repeat = options_.bench.repeat;
    options.budget_ms = options_.bench.seconds * 1e3 * share;
    return options;
}

void BenchRun::expect(std::int64_t steps) {
    steps_ += steps;
    progress_.update(done_, std::max(steps_, done_ + 1));
}

std::unique_ptr<HostMemory> BenchRun::host_memory() const {
    const auto engine = std::find_if(engines().begin(), engines().end(),
                                     [&](const Engine& one) { return one.on_gpu == has_gpu(); });
    return knn::host_memory(*engine, device_);
}

std::unique_ptr<Stand> BenchRun::stand(const Workload& work) {
    if (!has_gpu()) return nullptr;
    SearchRequest request = work.request(work.max_k(), work.query().count);
    request.device = device_;
    return gpu_bench()->stand(request, watch_);
}

std::unique_ptr<Stand> BenchRun::random_stand(const Problem& problem, std::uint64_t seed) {
    if (!has_gpu()) return nullptr;
    return gpu_bench()->random_stand(device_, problem, seed, watch_);
}

void BenchRun::leave_out(const std::string& name, const std::string& reason) {
    report_.leave_out(name, reason);
}

Measurement BenchRun::keep(Measurement measured) {
    stop_if_asked();
    if (!measured.left_out.empty()) leave_out(measured.name, measured.left_out);
    report_.measurements.push_back(measured);
    ++done_;
    progress_.update(done_, std::max(steps_, done_ + 1));
    return measured;
}

}  // namespace knn
