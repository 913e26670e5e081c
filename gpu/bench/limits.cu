// Measured limits of the device: copy bandwidth, multiply-add rate, and upload from pinned and pageable
// memory. Medians of a few runs, timed with events.

#include <algorithm>
#include <vector>

#include "gpu/bench/bench.h"
#include "gpu/bench/runs.h"

namespace knn::gpu {

namespace {

constexpr int n_runs = 7;
constexpr int chains = 8;        // independent sums per thread, to hide latency
constexpr int rounds = 1 << 14;  // multiply-adds per sum
constexpr int threads = 256, blocks_per_multiprocessor = 8;

__global__ void __launch_bounds__(threads) multiply_add_kernel(float a, float b, float* d_out) {
    float sum[chains];
#pragma unroll
    for (int i = 0; i < chains; ++i)
        sum[i] = static_cast<float>(threadIdx.x + i);
#pragma unroll 16
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int i = 0; i < chains; ++i)
            sum[i] = fmaf(sum[i], a, b);
    float all = 0;
#pragma unroll
    for (int i = 0; i < chains; ++i)
        all += sum[i];
    if (all == -1) *d_out = all;  // never true, but keeps the loop from being removed
}

/// What one run moves or computes, per second, by the median of a few.
template <class Work>
double rate(Runs& runs, double amount, Work&& work) {
    std::vector<double> ms = runs.repeated(1, {.repeat = n_runs}, work).ms;
    std::nth_element(ms.begin(), ms.begin() + std::ssize(ms) / 2, ms.end());
    return amount / ms[ms.size() / 2] * 1e-6;
}

}  // namespace

Limits measure_limits(int device) {
    check(cudaSetDevice(device), "choosing the device");
    const ProgressToken token;
    Runs runs(token);
    const Stream& stream = runs.stream();
    Limits limits;
    const std::size_t size = std::min<std::size_t>(std::size_t{1} << 30, free_memory() / 4);
    DeviceBuffer<char> from(size), to(size);
    check(cudaMemsetAsync(from.d_data(), 1, size, stream), "filling");
    limits.copy_gb_per_s = rate(runs, 2.0 * static_cast<double>(size), [&] {
        check(cudaMemcpyAsync(to.d_data(), from.d_data(), size, cudaMemcpyDeviceToDevice, stream),
              "copying in device memory");
    });

    limits.cache_bytes = device_attribute(cudaDevAttrL2CacheSize);
    const int blocks = blocks_per_multiprocessor * device_attribute(cudaDevAttrMultiProcessorCount);
    DeviceBuffer<float> out(1);
    limits.multiply_add_gflop_per_s = rate(runs, 2.0 * chains * rounds * threads * blocks, [&] {
        multiply_add_kernel<<<blocks, threads, 0, stream>>>(0.999f, 0.5f, out.d_data());
        check_launch("launching multiply-adds");
    });

    const std::size_t upload = std::min<std::size_t>(size, std::size_t{1} << 28);
    const auto upload_rate = [&](bool pinned) {
        HostArray<char> host(upload, pinned);
        return rate(runs, static_cast<double>(upload), [&] {
            check(cudaMemcpyAsync(to.d_data(), host.data(), upload, cudaMemcpyHostToDevice, stream),
                  "uploading");
        });
    };
    limits.pinned_upload_gb_per_s = upload_rate(true);
    limits.pageable_upload_gb_per_s = upload_rate(false);
    return limits;
}

}  // namespace knn::gpu
