#pragma once

#include "gpu/runtime/check.h"

namespace knn::gpu {

/// A CUDA stream that does not wait for the legacy default stream. Owns it; not copied, not moved.
class Stream {
  public:
    Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"); }
    ~Stream() { cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    operator cudaStream_t() const { return stream_; }
    void wait_for(cudaEvent_t event) const { check(cudaStreamWaitEvent(stream_, event), "ordering streams"); }
    void synchronize() const { check(cudaStreamSynchronize(stream_), "waiting for the GPU"); }

  private:
    cudaStream_t stream_ = nullptr;
};

}  // namespace knn::gpu
