#include "cpu/kernels/kernels.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "cpu/lanes/kernel.h"
#include "cpu/vectors/kernel.h"
#include "data/core/errors.h"
#include "data/core/format.h"

namespace knn::cpu {

namespace {

/// Those of this build by instruction set, best first, each beginning with `squares`. The last one runs everywhere.
constexpr const Kernel* all_kernels[] = {
#if defined(__x86_64__)
    &kernel_amx,       &kernel_avx512vnni,   &differences_avx512vnni, &products_avx512vnni,
    &kernel_avxvnni,   &differences_avxvnni, &products_avxvnni,       &kernel_avx2,
    &differences_avx2, &products_avx2,
#endif
    &kernel_plain,     &differences_plain,   &products_plain,
};

/// The processor is asked once: a virtual one takes microseconds to answer, and every search chooses.
bool is_available(const Kernel* kernel) {
    static const std::vector<const Kernel*> those = [] {
        std::vector<const Kernel*> kernels(std::begin(all_kernels), std::end(all_kernels));
        std::erase_if(kernels, [](const Kernel* one) { return !one->available(); });
        return kernels;
    }();
    return std::ranges::find(those, kernel) != those.end();
}

bool can_run(const Kernel* kernel, Arithmetic arithmetic) {
    return kernel->arithmetic == arithmetic && is_available(kernel);
}

}  // namespace

const Kernel& chosen_kernel(Arithmetic arithmetic) {
    if (arithmetic != Arithmetic::squares) {
        const auto* squares = std::ranges::find(all_kernels, &chosen_kernel());
        return **std::find_if(squares, std::end(all_kernels),
                              [&](const Kernel* kernel) { return can_run(kernel, arithmetic); });
    }
    const char* wanted = std::getenv("MNIST_KNN_ISA");
    const bool any = wanted == nullptr || *wanted == '\0';
    for (const Kernel* kernel : all_kernels)
        if (can_run(kernel, arithmetic) && (any || kernel->name == std::string(wanted))) return *kernel;
    throw UsageError("MNIST_KNN_ISA: no instruction set '" + std::string(wanted) +
                     "' here; expected one of " + joined(instruction_sets()));
}

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const Kernel* kernel : all_kernels)
        if (can_run(kernel, Arithmetic::squares)) names.emplace_back(kernel->name);
    return names;
}

std::string instruction_set() {
    return chosen_kernel().name;
}

const LaneKernels& chosen_lanes() {
#if defined(__x86_64__)
    const std::string name = instruction_set();
    if (name == "amx" || name == "avx512vnni") return lanes_avx512;
    if (name == "avxvnni" || name == "avx2") return lanes_avx2;
#endif
    return lanes_plain;
}

const RealKernel& chosen_real_kernel() {
#if defined(__x86_64__)
    const std::string name = instruction_set();
    if (name == "amx" || name == "avx512vnni") return real_avx512;
    if ((name == "avxvnni" || name == "avx2") && __builtin_cpu_supports("fma")) return real_avx2;
#endif
    return real_plain;
}

}  // namespace knn::cpu
