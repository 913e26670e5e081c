#pragma once
/// Where a method runs: what the user asked for, what the machine has, and the resulting plan.

#include <array>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "classifier/engines.h"
#include "classifier/method.h"
#include "classifier/ranks.h"
#include "data/core/names.h"

namespace knn {

/// The kind of device that the user asked for.
enum class DeviceKind { automatic, cpu, gpu };
template <>
inline constexpr std::array name_list<DeviceKind>{"auto", "cpu", "gpu"};

struct DeviceRequest {
    DeviceKind kind = DeviceKind::automatic;
    std::optional<int> number = {};  ///< N of gpu:N, or the first of several
    std::vector<int> others = {};    ///< M of gpu:N,M
    bool all = false;                ///< gpu:all

    bool several() const { return all || !others.empty(); }
    /// As the user wrote it: "gpu:1".
    std::string text() const;
};

/// What the user asked for; `resolve` chooses what is empty or 0.
struct PlanRequest {
    std::optional<std::string> engine;  ///< "auto": the fastest that supports the problem
    DeviceRequest device;
    std::string distance, select;
    std::int64_t batch = 0;
    int threads = 0;
    Placement placement = Placement::automatic;
    std::int64_t memory = 0;  ///< bytes
    SketchColumns sketch = SketchColumns::automatic;
    Ranks* ranks = nullptr;  ///< the processes that search together; null: this one alone

    /// Whether it restricts the choice of engines and devices.
    bool chooses() const {
        return engine || device.kind != DeviceKind::automatic || !distance.empty() || !select.empty();
    }
};

/// The engine if the user names none.
inline constexpr const char *default_engine = "classic", *fastest_engine = "auto";

struct Machine {
    std::vector<Device> gpus;
    std::string why_no_gpu;  ///< if there is none
    Device cpu = cpu_device();
};

/// A plan, its engine, and a notice for the user (may be empty).
struct Resolved {
    const Engine* engine = nullptr;
    Plan plan;
    std::string notice;
    Ranks* ranks = nullptr;
};

/// The plan for a problem on this machine, with the engines of `table`. If the user named neither engine nor
/// kernels and the default engine does not support the problem, the other GPU engines are tried, then the CPU
/// unless the user asked for a GPU. Throws UsageError if none is left or the request contradicts itself,
/// DeviceError if the requested GPU does not exist.
Resolved resolve(const PlanRequest& request, const Problem& problem, const Machine& machine,
                 std::span<const Engine> table = engines());

/// The plan of the engine `cpu`, whatever the user asked for. threads: 0: all.
Resolved resolve_on_cpu(const Problem& problem, int threads);

/// All requested GPUs, the first one first, by default the machine's first; none if it has none. Throws DeviceError if the
/// user asked for one that does not exist.
std::vector<Device> find_gpus(const DeviceRequest& request, const Machine& machine);

/// What this process may use: a rank (null: none) takes one of its host's GPUs, by its number among the ranks there,
/// unless the user named one.
Machine find_machine(const DeviceRequest& request, const Ranks* ranks);

/// What --spread auto means for this many devices and ranks: the training set on each, which needs no merge, unless
/// the plan's memory does not hold it, or there are too few queries to share.
Placement placement_for(const Problem& problem, const Plan& plan, std::int64_t workers);

/// How many parts of `count` training images of `row_bytes` each a device searches one after another, by the plan's limit
/// of memory.
std::int64_t n_parts(const Plan& plan, std::int64_t count, std::int64_t row_bytes);

/// Whether the engine's device computes the transform.
bool device_can_transform(const Engine& engine, const TransformSpec& transform);

/// Where the stages of a method run. Neighbors are ordered again and vote on the device only where it has all training
/// images at once.
Stages stages_of(const Method& method, const Engine& engine, const Plan& plan, const Training& training);

/// Throws UsageError if a rank is to have several devices.
void check_ranks(const PlanRequest& request);

/// Looks for GPUs on another thread, so that files can be read meanwhile.
class Planner {
  public:
    /// Throws UsageError if the options contradict each other.
    explicit Planner(const PlanRequest& request);

    /// The engine that runs unless it has to fall back; the data set should be read into its host memory.
    const Engine& likely_engine() const { return *likely_; }
    /// Waits for the list of GPUs if each rank takes another one.
    int likely_device() const;

    /// Waits for the list of GPUs. Throws as the free function `resolve` does.
    Resolved resolve(const Problem& problem);

  private:
    PlanRequest request_;
    const Engine* likely_ = nullptr;
    std::shared_future<Machine> machine_;  ///< invalid if no GPU is wanted
};

}  // namespace knn
