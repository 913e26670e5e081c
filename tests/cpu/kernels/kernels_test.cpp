#include "cpu/kernels/kernels.h"

#include "data/core/errors.h"
#include "tests/support/run.h"
#include "tests/support/test.h"

#if defined(__linux__) && defined(__x86_64__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#endif

namespace knn {
namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// The "flags" of the first processor as the system sees them; empty where it has no such list.
std::vector<std::string> processor_flags() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (!line.starts_with("flags")) continue;
        std::istringstream words(line.substr(line.find(':') + 1));
        std::vector<std::string> flags;
        for (std::string flag; words >> flag;)
            flags.push_back(flag);
        return flags;
    }
    return {};
}

TEST_CASE("cpu::kernels: what is listed is what the processor has") {
    const std::vector<std::string> flags = processor_flags(), names = cpu::instruction_sets();
    CHECK(names.back() == "plain");
    CHECK(holds(names, "avx2") == holds(flags, "avx2"));
    CHECK(holds(names, "avxvnni") == holds(flags, "avx_vnni"));
    CHECK(holds(names, "avx512vnni") == (holds(flags, "avx512f") && holds(flags, "avx512_vnni")));
    // Linux may refuse tile state although the processor has AMX.
    if (holds(names, "amx")) CHECK((holds(flags, "amx_tile") && holds(flags, "amx_int8")));
}

#if defined(__linux__) && defined(__x86_64__)

/// From now on this process cannot request tile state: arch_prctl(ARCH_REQ_XCOMP_PERM, ...) fails as on
/// systems without AMX support.
bool refuse_tiles() {
    constexpr unsigned arch_req_xcomp_perm = 0x1023;
    sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arch_req_xcomp_perm, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{static_cast<unsigned short>(std::size(steps)), steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Run only by the case below, in a process that has not looked for instruction sets.
TEST_CASE("cpu::kernels: without tiles" * doctest::skip()) {
    if (!refuse_tiles()) return test::skip("this system has no filter of system calls");
    unsetenv("MNIST_KNN_ISA");
    CHECK_FALSE(holds(cpu::instruction_sets(), "amx"));
    CHECK(cpu::instruction_set() != "amx");
    setenv("MNIST_KNN_ISA", "amx", 1);
    CHECK_THROWS_AS(cpu::instruction_set(), UsageError);
}

TEST_CASE("cpu::kernels: tiles that the system refuses are not listed") {
    const std::string here = std::filesystem::read_symlink("/proc/self/exe");
    const int code = test::run({here, "-ns", "-tc=cpu::kernels: without tiles"}).exit_code;
    if (code == 77) return test::skip("this system has no filter of system calls");
    CHECK(code == 0);
}

#endif

}  // namespace
}  // namespace knn
