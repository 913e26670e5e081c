#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <string>

#include "gpu/engines/engines.h"
#include "tests/support/skip.h"

namespace knn::test {

/// Whether there is a GPU; says [skipped] and why where there is none.
inline bool have_gpu() {
    std::string why;
    if (!gpu::devices(&why).empty()) return true;
    skip("no GPU: " + why);
    return false;
}

/// The compute capability of the first GPU, 10 · major + minor.
inline int capability() {
    const std::string text = gpu::devices().front().compute_capability;  // "9.0"
    const std::size_t dot = text.find('.');
    return 10 * std::stoi(text.substr(0, dot)) + std::stoi(text.substr(dot + 1));
}

/// Number of tensor kernels that a card must support for images of `dim` pixels: the one for Hopper up to 1,024
/// pixels, the one for Ampere and later up to 4,096.
inline int tensor_kernels_of(int card, std::int64_t dim) {
    return (card / 10 == 9 && dim <= 1024) + (card >= 80 && dim <= 4096);
}

/// Whether this machine has a card for the engine `tensor`; if not, prints [skipped] and why.
inline bool have_tensor_cores() {
    if (!have_gpu()) return false;
    if (capability() >= 80) return true;
    skip("the engine tensor needs compute capability 8.0");
    return false;
}

/// A test case that is skipped unless the condition holds, which says [skipped] and why.
#define TEST_CASE_IF(condition, body, ...) \
    static void body();                    \
    TEST_CASE(__VA_ARGS__) {               \
        if (condition) body();             \
    }                                      \
    static void body()
#define GPU_TEST_CASE(...) TEST_CASE_IF(test::have_gpu(), DOCTEST_ANONYMOUS(gpu_case_), __VA_ARGS__)
#define TENSOR_TEST_CASE(...) \
    TEST_CASE_IF(test::have_tensor_cores(), DOCTEST_ANONYMOUS(gpu_case_), __VA_ARGS__)

/// Whether this machine has the library of the kernel `gemm`, found without the program's loader.
inline bool have_cublas() {
    for (const char* name :
         {"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.13",
          "/usr/local/cuda/lib64/libcublasLt.so.12"})
        if (dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr) return true;
    return false;
}
inline constexpr const char* no_cublas = "cuBLAS was not found: what the kernel gemm computes was left out";

}  // namespace knn::test
