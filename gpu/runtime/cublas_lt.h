#pragma once
/// cuBLASLt, loaded on first use, and products of 8-bit matrices by it: the program builds and starts without it. The
/// few functions that are called are declared here, as in cuBLAS 12 and 13, so that building needs no header either;
/// tests/gpu/runtime/cublas_lt_test.cpp compares the declarations with the header if it is installed.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "data/core/problem.h"

namespace knn::gpu::cublas {

using Status = int;  // 0: success
using Handle = void*;
using MatmulDesc = void*;
using Layout = void*;
using Preference = void*;

constexpr int compute_32i = 72;
constexpr int op_n = 0, op_t = 1;
constexpr int desc_transa = 3, desc_transb = 4;
constexpr int preference_max_workspace_bytes = 1;
constexpr int config_tile_id = 1, tile_128x128 = 20;

struct Algorithm {
    std::uint64_t data[8];
};
struct HeuristicResult {
    Algorithm algorithm;
    std::size_t workspace_bytes;
    Status state;
    float waves;
    int reserved[4];
};

/// The functions of the library, without their prefix cublasLt.
struct Library {
    Status (*Create)(Handle*);
    const char* (*GetStatusString)(Status);
    Status (*MatmulDescCreate)(MatmulDesc*, int compute_type, cudaDataType_t scale_type);
    Status (*MatmulDescSetAttribute)(MatmulDesc, int attribute, const void* value, std::size_t bytes);
    Status (*MatmulDescDestroy)(MatmulDesc);
    Status (*MatrixLayoutCreate)(Layout*, cudaDataType_t, std::uint64_t rows, std::uint64_t cols,
                                 std::int64_t ld);
    Status (*MatrixLayoutDestroy)(Layout);
    Status (*MatmulPreferenceCreate)(Preference*);
    Status (*MatmulPreferenceSetAttribute)(Preference, int attribute, const void* value, std::size_t bytes);
    Status (*MatmulPreferenceDestroy)(Preference);
    Status (*MatmulAlgoGetHeuristic)(Handle, MatmulDesc, Layout a, Layout b, Layout c, Layout d, Preference,
                                     int wanted, HeuristicResult* results, int* found);
    Status (*MatmulAlgoConfigGetAttribute)(const Algorithm*, int attribute, void* value, std::size_t bytes,
                                           std::size_t* written);
    Status (*Matmul)(Handle, MatmulDesc, const void* alpha, const void* a, Layout, const void* b, Layout,
                     const void* beta, const void* c, Layout, void* d, Layout, const Algorithm*,
                     void* workspace, std::size_t workspace_bytes, cudaStream_t);
};

/// What is missing; empty if the library is there.
UnsupportedReason refuse();

/// The library, and its handle for the current device. Throws DeviceError if it is missing.
const Library& library();
Handle handle();

/// `what` completes "GPU: <what> failed: <cuBLAS's own words>".
void check(Status status, const char* what);

/// out[j][i] = Σ a[i][x] · b[j][x] for i < m, j < n, x < k. Rows of a and b begin `stride` bytes apart, rows
/// of out `out_stride` integers. m, k and both strides are multiples of 4, better of 16 (what cuBLAS asks of
/// 8-bit matrices).
struct Int8Shape {
    std::int64_t m = 0, n = 0, k = 0, stride = 0, out_stride = 0;
};

inline constexpr std::size_t product_workspace_bytes = std::size_t{32}
                                                       << 20;  // what NVIDIA advises for Hopper

/// Queues the product; d_workspace: product_workspace_bytes. The largest sum that 32 bits must hold is the caller's to
/// know. Throws DeviceError where cuBLAS is missing or refuses the shape.
void enqueue_product(const Int8Shape& shape, const std::int8_t* d_a, const std::int8_t* d_b,
                     std::int32_t* d_out, void* d_workspace, cudaStream_t stream);

}  // namespace knn::gpu::cublas
