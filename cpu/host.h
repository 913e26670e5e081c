#pragma once
/// What this process may use of the machine.

#include <cstdint>
#include <filesystem>
#include <string>

namespace knn::cpu {

/// The least quota of CPUs that the control groups of `self` (content of /proc/self/cgroup) set, in CPUs; 0:
/// none. `root`: where control groups are mounted, /sys/fs/cgroup. Versions 1 and 2.
double cgroup_cpus(const std::string& self, const std::filesystem::path& root);

/// The bytes that the control groups still allow, reclaimable file cache counted as free; -1: no limit.
std::int64_t cgroup_free_bytes(const std::string& self, const std::filesystem::path& root);

/// The bytes that can be allocated without the system running out of memory, by the control groups and by
/// the kernel's own estimate; -1: not known.
std::int64_t available_bytes();

}  // namespace knn::cpu
