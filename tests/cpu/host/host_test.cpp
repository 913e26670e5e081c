#include "cpu/host/host.h"
#include "cpu/host/threads.h"
#include "data/core/plan.h"
#include "tests/support/test.h"

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace knn {
namespace {

TEST_CASE("cpu: a caller's callback is asked between pieces that count nothing as done, and ends them") {
    std::atomic<bool> stop = false;
    const ProgressToken token{.progress = [&](std::int64_t, std::int64_t) { stop = true; }, .stop = &stop};
    for (const int threads : {1, 3}) {
        stop = false;
        std::atomic<int> pieces = 0;
        cpu::Team team(threads, token, 7, 1);
        CHECK_THROWS_AS(team.run_pieces(1000, 1,
                                        [&](int, std::int64_t, std::int64_t) {
                                            ++pieces;
                                            std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                        }),
                        Interrupted);
        CHECK(pieces < 300);
    }
}

TEST_CASE("cpu: a small search starts fewer threads than it may, unless their number was asked for") {
    Plan plan{.threads = 64, .spares_threads = true};
    CHECK(cpu::threads_for(plan, 0) == 1);
    CHECK(cpu::threads_for(plan, 10'000) == 1);
    CHECK(cpu::threads_for(plan, 2'000'000) == 10);
    CHECK(cpu::threads_for(plan, 1e12) == 64);
    plan.spares_threads = false;
    CHECK(cpu::threads_for(plan, 0) == 64);
}

// The folder looks like /sys/fs/cgroup.
TEST_CASE_FIXTURE(test::InFolder, "cpu: the quota of control groups") {
    const std::string self = "0::/user.slice/job\n";
    CHECK(cpu::cgroup_cpus(self, folder.path()) == 0);
    folder.write("user.slice/job/cpu.max", "max 100000\n");
    CHECK(cpu::cgroup_cpus(self, folder.path()) == 0);
    folder.write("user.slice/cpu.max", "350000 100000\n");
    CHECK(cpu::cgroup_cpus(self, folder.path()) == 3.5);
    folder.write("user.slice/job/cpu.max", "150000 100000\n");
    CHECK(cpu::cgroup_cpus(self, folder.path()) == 1.5);
    folder.write("user.slice/other/cpu.max", "10000 100000\n");
    CHECK(cpu::cgroup_cpus(self, folder.path()) == 1.5);
}

TEST_CASE_FIXTURE(test::InFolder, "cpu: the memory that control groups allow") {
    CHECK(cpu::cgroup_free_bytes("0::/a/b\n", folder.path()) == -1);
    folder.write("a/memory.max", "1000000\n");
    folder.write("a/memory.current", "700000\n");
    folder.write("a/memory.stat", "anon 1\ninactive_file 50000\nactive_file 7\n");
    folder.write("a/b/memory.max", "max\n");
    folder.write("a/b/memory.current", "600000\n");
    CHECK(cpu::cgroup_free_bytes("0::/a/b\n", folder.path()) == 350'000);
    folder.write("a/memory.current", "2000000\n");
    CHECK(cpu::cgroup_free_bytes("0::/a/b\n", folder.path()) == 0);
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

TEST_CASE("cpu: more threads than the processors can use are not started") {
    const int all = cpu::available_threads();
    CHECK(cpu::threads_or_all(0) == all);
    for (const int wanted : {1, 7, 32, 100'000})
        CHECK(cpu::threads_or_all(wanted) == std::min(wanted, cpu::most_threads_per_cpu * all));
}

}  // namespace
}  // namespace knn
