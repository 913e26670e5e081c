#pragma once

#include <memory_resource>

namespace knn {

/// Host memory for a data set. This one is plain; gpu/engines/engines.h makes memory that a GPU reads at full speed.
class HostMemory {
  public:
    virtual ~HostMemory() = default;
    virtual std::pmr::memory_resource* resource() { return std::pmr::new_delete_resource(); }
    /// Pins all that has been handed out. Throws DeviceError.
    virtual void pin() {}
};

}  // namespace knn
