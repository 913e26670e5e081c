#pragma once
/// What both engines share when they are opened.

#include <span>
#include <string>
#include <vector>

#include "gpu/engines/engines.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

/// Makes `device` the current device during its lifetime. Throws DeviceError if it does not exist.
class OnDevice {
  public:
    explicit OnDevice(int device) {
        const int count = device_count();
        if (device < 0 || device >= count)
            throw DeviceError("there is no GPU number " + std::to_string(device) + "; this machine has " +
                              std::to_string(count));
        before_ = current_device();
        if (before_ != device) check(cudaSetDevice(device), "choosing the device");
    }
    ~OnDevice() { cudaSetDevice(before_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

  private:
    int before_ = 0;
};

template <class Entry>
std::vector<Strategy> strategies_of(std::span<const Entry* const> table) {
    std::vector<Strategy> all;
    for (const Entry* entry : table)
        all.push_back({entry->name, entry->summary});
    return all;
}

/// The strategy of this name, or, if `name` is empty, the first that `refuse` accepts. If there is none, null, and
/// `refusal` has the reason. `kind` is for the message.
template <class Entry, class Refuse>
const Entry* choose(std::span<const Entry* const> table, const std::string& name, const char* kind,
                    UnsupportedReason& refusal, Refuse&& refuse) {
    std::string names;
    refusal.reset();
    for (const Entry* entry : table) {
        names += (names.empty() ? "" : ", ") + std::string(entry->name);
        if (!name.empty() && name != entry->name) continue;
        UnsupportedReason why = refuse(*entry);
        if (!why) {
            refusal.reset();
            return entry;
        }
        if (!refusal) refusal = why;
    }
    if (!refusal) refusal = "there is no " + std::string(kind) + " '" + name + "'; expected one of: " + names;
    return nullptr;
}

/// The strategy of this name; null if the table has none.
template <class Entry>
const Entry* find_in(std::span<const Entry* const> table, const std::string& name) {
    for (const Entry* entry : table)
        if (name == entry->name) return entry;
    return nullptr;
}

/// The strategy that a configured plan names.
template <class Entry>
const Entry& named_in(std::span<const Entry* const> table, const std::string& name) {
    if (const Entry* found = find_in(table, name)) return *found;
    throw DeviceError("GPU: the plan names '" + name + "', which no table has");
}

/// Loads the kernels of the engine `tensor` that do not depend on the images onto this device
/// (load_kernels); does nothing if the engine cannot run there.
void load_tensor_kernels(int device);

}  // namespace knn::gpu
