#pragma once
/// Settling a plan, for both engines.

#include <span>
#include <string>

#include "gpu/engines/engines.h"

namespace knn::gpu {

/// Makes `device` the current device during its lifetime. Throws DeviceError if it does not exist.
class OnDevice {
  public:
    explicit OnDevice(int device);
    ~OnDevice();
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

  private:
    int before_ = 0;
};

/// The strategy of this name, or, if `name` is empty, the first that `refuse` accepts. If there is none, null, and
/// `refusal` has the reason. `kind` is for the message.
template <class Strategy, class Refuse>
const Strategy* choose(std::span<const Strategy* const> table, const std::string& name, const char* kind,
                       Refusal& refusal, Refuse&& refuse) {
    std::string names;
    refusal.reset();
    for (const Strategy* strategy : table) {
        names += (names.empty() ? "" : ", ") + std::string(strategy->name);
        if (!name.empty() && name != strategy->name) continue;
        Refusal why = refuse(*strategy);
        if (!why) {
            refusal.reset();
            return strategy;
        }
        if (!refusal) refusal = why;
    }
    if (!refusal) refusal = "there is no " + std::string(kind) + " '" + name + "'; expected one of: " + names;
    return nullptr;
}

/// The strategy that a settled plan names.
template <class Strategy>
const Strategy& named_in(std::span<const Strategy* const> table, const std::string& name) {
    for (const Strategy* strategy : table)
        if (name == strategy->name) return *strategy;
    throw DeviceError("GPU: the plan names '" + name + "', which no table has");
}

}  // namespace knn::gpu
