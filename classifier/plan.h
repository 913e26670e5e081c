#pragma once
/// Where a method runs: what the user asked for, what the machine has, and the plan that follows from both.

#include <array>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "classifier/engines.h"
#include "data/core/names.h"

namespace knn {

/// The kind of device that the user asked for.
enum class DeviceKind { automatic, cpu, gpu };
template <>
struct Names<DeviceKind> {
    static constexpr std::array list{"auto", "cpu", "gpu"};
};

struct DeviceWish {
    DeviceKind kind = DeviceKind::automatic;
    std::optional<int> number;  ///< N of gpu:N

    /// As the user wrote it: "gpu:1".
    std::string text() const;
};

/// What the user asked for; what is empty or 0 is left to `resolve`.
struct Wish {
    std::optional<std::string> engine;  ///< "auto": the fastest that answers the problem
    DeviceWish device;
    std::string distance, select;
    std::int64_t batch = 0;
    int threads = 0;

    /// Whether it says anything that chooses among engines and devices.
    bool chooses() const {
        return engine || device.kind != DeviceKind::automatic || !distance.empty() || !select.empty();
    }
};

/// What `--engine` does without a name.
inline constexpr const char *default_engine = "classic", *fastest_engine = "auto";

struct Machine {
    std::vector<Device> gpus;
    std::string why_no_gpu;  ///< where there is none
    Device cpu;
};

/// A plan, its engine, and what to tell the user about it (empty: nothing).
struct Resolved {
    const Engine* engine = nullptr;
    Plan plan;
    std::string notice;
};

/// The plan for a problem on this machine, with the engines of `table`. An engine that the user did not name,
/// with kernels that the user did not name either, is passed over where it cannot answer the problem: for other
/// engines of the GPU, then for the CPU unless a GPU was asked for. Throws UsageError where none is left or
/// the wish contradicts itself, DeviceError where a GPU was asked for that is not there.
Resolved resolve(const Wish& wish, const Problem& problem, const Machine& machine,
                 std::span<const Engine> table = engines());

/// Of the GPUs the one that was asked for; null where there is none at all. Throws DeviceError where the
/// user asked for one that is not there.
const Device* find_gpu(const DeviceWish& wish, const Machine& machine);

/// Looks for GPUs on another thread, so that files can be read meanwhile.
class Planner {
  public:
    /// Throws UsageError where the wish contradicts itself.
    explicit Planner(const Wish& wish);

    /// The engine whose host memory the data set should be read into: the one that runs if all goes well.
    const Engine& likely_engine() const { return *likely_; }
    int likely_device() const { return wish_.device.number.value_or(0); }

    /// Once; waits for the list of GPUs. Throws as `resolve` of the free function does.
    Resolved resolve(const Problem& problem);

  private:
    Wish wish_;
    const Engine* likely_ = nullptr;
    std::future<Machine> machine_;  ///< invalid where no GPU is wanted
};

}  // namespace knn
