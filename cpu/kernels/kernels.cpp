#include "cpu/kernels/kernels.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/core/errors.h"

namespace knn::cpu {

namespace {

std::string listed(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names)
        list += (list.empty() ? "" : ", ") + name;
    return list;
}

}  // namespace

std::span<const Kernel* const> kernels(Arithmetic arithmetic) {
#if defined(__x86_64__)
    static constexpr std::array table{&kernel_amx, &kernel_avx512vnni, &kernel_avxvnni, &kernel_avx2,
                                      &kernel_plain};
    static constexpr std::array differences{&differences_avx512vnni, &differences_avxvnni, &differences_avx2,
                                            &differences_plain};
    static constexpr std::array products{&products_avx512vnni, &products_avxvnni, &products_avx2,
                                         &products_plain};
#else
    static constexpr std::array table{&kernel_plain};
    static constexpr std::array differences{&differences_plain};
    static constexpr std::array products{&products_plain};
#endif
    if (arithmetic == Arithmetic::differences) return differences;
    if (arithmetic == Arithmetic::products) return products;
    return table;
}

const Kernel& chosen_kernel(Arithmetic arithmetic) {
    if (arithmetic != Arithmetic::squares) {
        // The one chosen for `squares`, else the best of those after it in their table.
        bool reached = false;
        for (const Kernel* kernel : kernels()) {
            reached = reached || kernel == &chosen_kernel();
            for (const Kernel* other : kernels(arithmetic))
                if (reached && other->name == std::string(kernel->name) && other->available()) return *other;
        }
    }
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
