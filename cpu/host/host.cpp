#include "cpu/host/host.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <new>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "data/core/errors.h"
#include "data/core/round_up.h"

namespace knn::cpu {

namespace fs = std::filesystem;

namespace {

std::string content_of(const fs::path& file) {
    errno = 0;
    std::ifstream in(file);
    if (!in.is_open() && errno == ENOMEM) throw std::bad_alloc();  // else there seems to be no such file
    return {std::istreambuf_iterator<char>(in), {}};
}

/// To read a text from: where memory is short it throws, instead of ending early.
std::istringstream reading(const std::string& text) {
    std::istringstream in(text);
    in.exceptions(std::ios::badbit);
    return in;
}

/// The first number of a file; nothing if there is no file or no number ("max").
std::optional<double> number_in(const fs::path& file) {
    std::ifstream in(file);
    double number = 0;
    if (in >> number) return number;
    return std::nullopt;
}

/// The number after `key` in lines such as "MemTotal:  24105 kB" or "inactive_file 4096".
std::optional<double> number_after(const std::string& key, const std::string& text) {
    std::istringstream words = reading(text);
    double number = 0;
    for (std::string word; words >> word;)
        if (word == key && words >> number) return number;
    return std::nullopt;
}

/// The folders of a process's control groups (version 2), innermost first. A line of `self` is "0::path". A limit of an outer
/// group also applies to inner ones, so all up to the root count. In a container the path may be outside of the mount: then
/// only the root can be read.
std::vector<fs::path> group_folders(const std::string& self, const fs::path& root) {
    std::vector<fs::path> folders;
    std::istringstream lines = reading(self);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("0::")) continue;
        for (fs::path inner = fs::path(line.substr(3)).relative_path(); !inner.empty();
             inner = inner.parent_path())
            folders.push_back(root / inner);
        folders.push_back(root);
    }
    return folders;
}

/// cpu.max is "quota period" or "max period".
std::optional<double> cpus_of(const fs::path& group) {
    std::istringstream both = reading(content_of(group / "cpu.max"));
    double quota = 0, period = 0;
    if (both >> quota >> period && quota > 0 && period > 0) return quota / period;
    return std::nullopt;
}

std::optional<double> free_bytes_of(const fs::path& group) {
    const auto limit = number_in(group / "memory.max");
    if (!limit) return std::nullopt;
    const double used = number_in(group / "memory.current").value_or(0);
    const double cache = number_after("inactive_file", content_of(group / "memory.stat")).value_or(0);
    return std::max(0.0, *limit - used + cache);
}

}  // namespace

double cgroup_cpus(const std::string& self, const fs::path& root) {
    double least = 0;
    for (const fs::path& group : group_folders(self, root))
        if (const auto cpus = cpus_of(group)) least = least > 0 ? std::min(least, *cpus) : *cpus;
    return least;
}

std::int64_t cgroup_free_bytes(const std::string& self, const fs::path& root) {
    std::optional<double> least;
    for (const fs::path& group : group_folders(self, root))
        if (const auto free = free_bytes_of(group)) least = std::min(least.value_or(*free), *free);
    return least ? static_cast<std::int64_t>(*least) : -1;
}

std::int64_t available_bytes() {
    const auto kilobytes = number_after("MemAvailable:", content_of("/proc/meminfo"));
    const std::int64_t system = kilobytes ? static_cast<std::int64_t>(*kilobytes * 1024) : -1;
    const std::int64_t group = cgroup_free_bytes(content_of("/proc/self/cgroup"), "/sys/fs/cgroup");
    return system < 0 || (group >= 0 && group < system) ? group : system;
}

void require_available(std::int64_t needed, const std::string& work) {
    const std::int64_t available = available_bytes();
    if (available < 0 || needed <= available) return;
    const auto mib = [](std::int64_t bytes) { return std::to_string(divide_up(bytes, 1 << 20)) + " MiB"; };
    throw MemoryError("memory: " + work + " needs " + mib(needed) + "; expected at most " + mib(available) +
                      ", the free memory");
}

void throw_out_of_memory(const std::string& work) {
    throw MemoryError("memory: " + work + " ran out of it; expected more, or fewer images");
}

int available_threads() {
    int threads = 0;
    // Grows the set until the system's mask fits: machines may have more processors than one cpu_set_t.
    for (std::size_t sets = 1; sets <= 64; sets *= 2) {
        std::vector<cpu_set_t> mask(sets);
        if (sched_getaffinity(0, sets * sizeof(cpu_set_t), mask.data()) != 0) continue;
        threads = CPU_COUNT_S(sets * sizeof(cpu_set_t), mask.data());
        break;
    }
    if (threads == 0) threads = static_cast<int>(std::thread::hardware_concurrency());
    // Read once: each search asks, and a dozen files take as long as a digit does.
    static const double quota = cgroup_cpus(content_of("/proc/self/cgroup"), "/sys/fs/cgroup");
    if (quota > 0) threads = std::min(threads, static_cast<int>(std::ceil(quota)));
    return std::max(threads, 1);
}

int threads_or_all(int wanted) {
    static const int most = most_threads_per_cpu * available_threads();
    return wanted > 0 ? std::min(wanted, most) : available_threads();
}

Device device() {
    Device cpu;
    cpu.kind = Device::Kind::cpu;
    cpu.name = "CPU";
    std::istringstream info = reading(content_of("/proc/cpuinfo"));
    for (std::string line; std::getline(info, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) {
            cpu.name = line.substr(colon + 2);
            break;
        }
    }
    const auto kilobytes = number_after("MemTotal:", content_of("/proc/meminfo"));
    cpu.memory_bytes = kilobytes ? static_cast<std::int64_t>(*kilobytes * 1024) : 0;
    return cpu;
}

}  // namespace knn::cpu
