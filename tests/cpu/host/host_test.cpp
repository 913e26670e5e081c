#include "cpu/host/host.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>

#include "cpu/search.h"

namespace knn {
namespace {

namespace fs = std::filesystem;

/// A folder that looks like /sys/fs/cgroup, removed at the end.
class Groups {
  public:
    Groups() : root_(fs::temp_directory_path() / ("knn_cgroup_" + std::to_string(getpid()))) {
        fs::create_directories(root_);
    }
    ~Groups() { fs::remove_all(root_); }
    void write(const std::string& file, const std::string& content) const {
        fs::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file) << content << '\n';
    }
    const fs::path& root() const { return root_; }

  private:
    fs::path root_;
};

TEST_CASE("cpu: the quota of control groups, version 2") {
    const Groups groups;
    const std::string self = "0::/user.slice/job\n";
    CHECK(cpu::cgroup_cpus(self, groups.root()) == 0);
    groups.write("user.slice/job/cpu.max", "max 100000");
    CHECK(cpu::cgroup_cpus(self, groups.root()) == 0);
    groups.write("user.slice/cpu.max", "350000 100000");
    CHECK(cpu::cgroup_cpus(self, groups.root()) == 3.5);
    groups.write("user.slice/job/cpu.max", "150000 100000");
    CHECK(cpu::cgroup_cpus(self, groups.root()) == 1.5);
    groups.write("user.slice/other/cpu.max", "10000 100000");
    CHECK(cpu::cgroup_cpus(self, groups.root()) == 1.5);
}

TEST_CASE("cpu: the quota of control groups, version 1") {
    const Groups groups;
    const std::string self = "5:memory:/box\n3:cpu,cpuacct:/box\n1:name=systemd:/\n";
    groups.write("cpu/box/cpu.cfs_quota_us", "-1");
    groups.write("cpu/box/cpu.cfs_period_us", "100000");
    CHECK(cpu::cgroup_cpus(self, groups.root()) == 0);
    groups.write("cpu/box/cpu.cfs_quota_us", "200000");
    CHECK(cpu::cgroup_cpus(self, groups.root()) == 2);
    // In a container the group's own folder is mounted.
    groups.write("cpu/cpu.cfs_quota_us", "50000");
    groups.write("cpu/cpu.cfs_period_us", "100000");
    CHECK(cpu::cgroup_cpus(self, groups.root()) == 0.5);
}

TEST_CASE("cpu: the memory that control groups allow") {
    const Groups groups;
    CHECK(cpu::cgroup_free_bytes("0::/a/b\n", groups.root()) == -1);
    groups.write("a/memory.max", "1000000");
    groups.write("a/memory.current", "700000");
    groups.write("a/memory.stat", "anon 1\ninactive_file 50000\nactive_file 7");
    groups.write("a/b/memory.max", "max");
    groups.write("a/b/memory.current", "600000");
    CHECK(cpu::cgroup_free_bytes("0::/a/b\n", groups.root()) == 350'000);

    const std::string old = "7:memory:/c\n";
    groups.write("memory/c/memory.limit_in_bytes", "9223372036854771712");
    groups.write("memory/c/memory.usage_in_bytes", "4096");
    CHECK(cpu::cgroup_free_bytes(old, groups.root()) == -1);
    groups.write("memory/c/memory.limit_in_bytes", "8192");
    CHECK(cpu::cgroup_free_bytes(old, groups.root()) == 4'096);
    groups.write("memory/c/memory.usage_in_bytes", "10000");
    CHECK(cpu::cgroup_free_bytes(old, groups.root()) == 0);
}

TEST_CASE("cpu: no more threads than this process may run on") {
    cpu_set_t before, one;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&one);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &before))
        ++cpu;
    CPU_SET(cpu, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(cpu::available_threads() == 1);
    sched_setaffinity(0, sizeof before, &before);
    CHECK(cpu::available_threads() <= CPU_COUNT(&before));
}

TEST_CASE("cpu: there is a processor and some memory") {
    CHECK(cpu::available_threads() >= 1);
    CHECK(cpu::available_bytes() != 0);
    CHECK(cpu::device().memory_bytes >= cpu::available_bytes());
}

}  // namespace
}  // namespace knn
