#include <string>

#include "cpu/kernels/kernels.h"
#include "cpu/vectors/kernel.h"

namespace knn::cpu {

const RealKernel& chosen_real_kernel() {
#if defined(__x86_64__)
    const std::string name = instruction_set();
    if (name == "amx" || name == "avx512vnni") return real_avx512;
    if ((name == "avxvnni" || name == "avx2") && __builtin_cpu_supports("fma")) return real_avx2;
#endif
    return real_plain;
}

}  // namespace knn::cpu
