#include "cpu/host/host.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include "cpu/search.h"
#include "tests/support/temp_folder.h"

namespace knn {
namespace {

TEST_CASE("cpu: the quota of control groups, version 2") {
    const test::TempFolder groups;  // looks like /sys/fs/cgroup
    const std::string self = "0::/user.slice/job\n";
    CHECK(cpu::cgroup_cpus(self, groups.path()) == 0);
    groups.write("user.slice/job/cpu.max", "max 100000\n");
    CHECK(cpu::cgroup_cpus(self, groups.path()) == 0);
    groups.write("user.slice/cpu.max", "350000 100000\n");
    CHECK(cpu::cgroup_cpus(self, groups.path()) == 3.5);
    groups.write("user.slice/job/cpu.max", "150000 100000\n");
    CHECK(cpu::cgroup_cpus(self, groups.path()) == 1.5);
    groups.write("user.slice/other/cpu.max", "10000 100000\n");
    CHECK(cpu::cgroup_cpus(self, groups.path()) == 1.5);
}

TEST_CASE("cpu: the quota of control groups, version 1") {
    const test::TempFolder groups;  // looks like /sys/fs/cgroup
    const std::string self = "5:memory:/box\n3:cpu,cpuacct:/box\n1:name=systemd:/\n";
    groups.write("cpu/box/cpu.cfs_quota_us", "-1\n");
    groups.write("cpu/box/cpu.cfs_period_us", "100000\n");
    CHECK(cpu::cgroup_cpus(self, groups.path()) == 0);
    groups.write("cpu/box/cpu.cfs_quota_us", "200000\n");
    CHECK(cpu::cgroup_cpus(self, groups.path()) == 2);
    // In a container the group's own folder is mounted.
    groups.write("cpu/cpu.cfs_quota_us", "50000\n");
    groups.write("cpu/cpu.cfs_period_us", "100000\n");
    CHECK(cpu::cgroup_cpus(self, groups.path()) == 0.5);
}

TEST_CASE("cpu: the memory that control groups allow") {
    const test::TempFolder groups;  // looks like /sys/fs/cgroup
    CHECK(cpu::cgroup_free_bytes("0::/a/b\n", groups.path()) == -1);
    groups.write("a/memory.max", "1000000\n");
    groups.write("a/memory.current", "700000\n");
    groups.write("a/memory.stat", "anon 1\ninactive_file 50000\nactive_file 7\n");
    groups.write("a/b/memory.max", "max\n");
    groups.write("a/b/memory.current", "600000\n");
    CHECK(cpu::cgroup_free_bytes("0::/a/b\n", groups.path()) == 350'000);

    const std::string old = "7:memory:/c\n";
    groups.write("memory/c/memory.limit_in_bytes", "9223372036854771712\n");
    groups.write("memory/c/memory.usage_in_bytes", "4096\n");
    CHECK(cpu::cgroup_free_bytes(old, groups.path()) == -1);
    groups.write("memory/c/memory.limit_in_bytes", "8192\n");
    CHECK(cpu::cgroup_free_bytes(old, groups.path()) == 4'096);
    groups.write("memory/c/memory.usage_in_bytes", "10000\n");
    CHECK(cpu::cgroup_free_bytes(old, groups.path()) == 0);
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

}  // namespace
}  // namespace knn
