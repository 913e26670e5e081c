#pragma once
/// The time of each stage of a search.

#include <cstdint>
#include <string>
#include <vector>

#include "data/core/clock.h"
#include "data/core/names.h"

namespace knn {

/// What a stage uses: the link between host and device, the device that searches, or the host.
enum class StageKind { kernel, copy, host };
template <>
inline constexpr std::array name_list<StageKind>{"kernel", "copy", "host"};

/// One named stage, summed over all of its launches.
struct Stage {
    std::string name;
    std::int64_t launches = 0;
    double total_ms = 0;
    double bytes = 0;  ///< read and written in memory, at least (each operand once a launch); 0: not counted
    double operations = 0;  ///< arithmetic: an addition and a multiplication are two; 0: not counted
    StageKind kind = StageKind::kernel;
    bool once = false;  ///< the first search does it, and keeps it for all others

    /// 10⁹ bytes per second, 10⁹ operations per second; 0 if nothing was counted or no time passed.
    double gb_per_s() const;
    double gflop_per_s() const;
};

/// Stages in the order in which they were first seen.
class Timeline {
  public:
    /// Adds to the stage of this name, which is made at the end of the list where there is none.
    void add(const Stage& stage);
    /// One launch that took the time since `start`.
    void add_since(const char* name, Clock::time_point start, StageKind kind = StageKind::host);
    const std::vector<Stage>& stages() const { return stages_; }
    void add(const Timeline& other);
    /// The sum over the stages of kind `kernel`, in ms.
    double kernels_ms() const;

    /// Wall clock that each of several devices searched, in ms; empty for one.
    const std::vector<double>& device_ms() const { return device_ms_; }
    void add_device_ms(const std::vector<double>& ms);
    /// The slowest device's time above the mean, as a share of it; 0 for one device.
    double imbalance() const;

  private:
    std::vector<Stage> stages_;
    std::vector<double> device_ms_;
};

/// Of timelines that ran at the same time: each stage as it was where it took longest.
Timeline slowest(const std::vector<Timeline>& timelines);

}  // namespace knn
