#pragma once
/// What both engines do to settle a plan.

#include <span>
#include <string>

#include "gpu/engines/engines.h"

namespace knn::gpu {

/// Makes `device` the current one for as long as it lives. Throws DeviceError where there is none.
class OnDevice {
  public:
    explicit OnDevice(int device);
    ~OnDevice();
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

  private:
    int before_ = 0;
};

/// The strategy of this name, or without a name the first that `refuse` does not refuse; null, and why, where
/// there is none. `kind` is for the message.
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

/// The strategy of this name, which a settled plan has.
template <class Strategy>
const Strategy& named_in(std::span<const Strategy* const> table, const std::string& name) {
    for (const Strategy* strategy : table)
        if (name == strategy->name) return *strategy;
    throw DeviceError("GPU: the plan names '" + name + "', which no table has");
}

}  // namespace knn::gpu
