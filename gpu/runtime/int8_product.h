#pragma once
/// Products of 8-bit matrices in 32-bit integers, by cuBLAS.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "gpu/runtime/cublas_lt.h"

namespace knn::gpu {

/// out[j][i] = Σ a[i][x] · b[j][x] for i < m, j < n, x < k. Rows of a and b begin `stride` bytes apart, rows
/// of out `out_stride` integers. m, k and both strides are multiples of 4, better of 16 (what cuBLAS asks of
/// 8-bit matrices).
struct Int8Shape {
    std::int64_t m = 0, n = 0, k = 0, stride = 0, out_stride = 0;
};

/// A product of one shape, prepared on the host. Owns descriptions of matrices, no device memory. The largest
/// sum that 32 bits must hold is the caller's to know. Throws DeviceError where cuBLAS is missing or refuses
/// the shape.
class Int8Product {
  public:
    static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper

    explicit Int8Product(const Int8Shape& shape);
    ~Int8Product();
    Int8Product(const Int8Product&) = delete;
    Int8Product& operator=(const Int8Product&) = delete;

    /// Queues it; d_workspace: workspace_bytes.
    void enqueue(const std::int8_t* d_a, const std::int8_t* d_b, std::int32_t* d_out, void* d_workspace,
                 cudaStream_t stream) const;

  private:
    void choose_algorithm();

    const cublas::Library& library_;
    cublas::Handle handle_;
    cublas::MatmulDesc product_ = nullptr;
    cublas::Layout a_ = nullptr, b_ = nullptr, out_ = nullptr;
    cublas::Algorithm algorithm_{};
};

}  // namespace knn::gpu
