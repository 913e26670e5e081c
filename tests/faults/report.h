#pragma once
/// What the shim (shim.cpp) and the test that steers it share: the file that MNIST_KNN_FAULT_REPORT names. The shim maps it.

#include <array>
#include <cstdint>

namespace knn::test {

/// The functions of which one call can be made to fail. `allocate` is malloc and all that is made of it, operator new too.
enum class Call { open, read, write, fsync, rename, close, mmap, ftruncate, mkdir, allocate, count };

inline constexpr std::array<const char*, static_cast<std::size_t>(Call::count)> call_names = {
    "open", "read", "write", "fsync", "rename", "close", "mmap", "ftruncate", "mkdir", "allocate"};

struct FaultReport {
    /// Calls so far, of main and what it calls.
    std::array<std::uint64_t, static_cast<std::size_t>(Call::count)> calls = {};
    std::uint64_t failed = 0;  ///< how many of them were made to fail
};

}  // namespace knn::test
