#pragma once
/// The resources of the machine that this process may use.

#include <cstdint>
#include <filesystem>
#include <string>

#include "data/core/plan.h"

namespace knn::cpu {

/// The processor as `info` and the report show it.
Device device();

/// The threads that this process may use (affinity and cgroup quota respected), at least 1.
int available_threads();
/// More of them than this only wait for each other, for seconds if there are thousands.
inline constexpr int most_threads_per_cpu = 32;
/// `wanted`, or as many as that allows; all that the process may use if it is 0.
int threads_or_all(int wanted);

/// The smallest CPU quota of the control groups in `self` (content of /proc/self/cgroup), in CPUs; 0: none.
/// `root`: mount point of the control groups, /sys/fs/cgroup. Version 2.
double cgroup_cpus(const std::string& self, const std::filesystem::path& root);

/// The bytes that the control groups still allow, counting reclaimable file cache as free; -1: no limit.
std::int64_t cgroup_free_bytes(const std::string& self, const std::filesystem::path& root);

/// The bytes that can be allocated before the system runs out of memory, by the control groups and the
/// kernel's own estimate; -1: unknown.
std::int64_t available_bytes();

/// Throws MemoryError if `work` needs more bytes than that.
void require_available(std::int64_t needed, const std::string& work);
/// The same of what work() says, but few bytes are not asked for, which takes as long as to search for a digit.
template <class Work>
void require_memory(std::int64_t needed, const Work& work) {
    constexpr std::int64_t unquestioned = 16 << 20;
    if (needed > unquestioned) require_available(needed, work());
}

/// Throws MemoryError. `work`: "searching 60000 training images".
[[noreturn]] void throw_out_of_memory(const std::string& work);

}  // namespace knn::cpu
