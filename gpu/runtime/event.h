#pragma once

#include "gpu/runtime/check.h"

namespace knn::gpu {

/// A CUDA event with a time stamp. Owns it; not copied, not moved.
class Event {
  public:
    Event() { check(cudaEventCreate(&event_), "creating an event"); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    operator cudaEvent_t() const { return event_; }
    void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "recording an event"); }
    void synchronize() const { check(cudaEventSynchronize(event_), "waiting for the GPU"); }

  private:
    cudaEvent_t event_ = nullptr;
};

/// The time between two events that have both passed.
inline double elapsed_ms(const Event& begin, const Event& end) {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "reading the GPU's clock");
    return ms;
}

}  // namespace knn::gpu
