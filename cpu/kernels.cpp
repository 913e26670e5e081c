#include "cpu/kernels.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "cpu/search.h"
#include "data/errors.h"

namespace knn::cpu {

namespace {

std::string listed(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names)
        list += (list.empty() ? "" : ", ") + name;
    return list;
}

}  // namespace

std::span<const Kernel* const> kernels() {
#if defined(__x86_64__)
    static constexpr std::array table{&kernel_amx, &kernel_avx512vnni, &kernel_avxvnni, &kernel_avx2,
                                      &kernel_plain};
#else
    static constexpr std::array table{&kernel_plain};
#endif
    return table;
}

const Kernel& chosen_kernel() {
    const char* wanted = std::getenv("MNIST_KNN_ISA");
    const bool any = wanted == nullptr || *wanted == '\0';
    for (const Kernel* kernel : kernels())
        if (kernel->available() && (any || kernel->name == std::string(wanted))) return *kernel;
    throw UsageError("MNIST_KNN_ISA: no instruction set '" + std::string(wanted) +
                     "' here; expected one of " + listed(instruction_sets()));
}

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const Kernel* kernel : kernels())
        if (kernel->available()) names.emplace_back(kernel->name);
    return names;
}

std::string instruction_set() {
    return chosen_kernel().name;
}

}  // namespace knn::cpu
