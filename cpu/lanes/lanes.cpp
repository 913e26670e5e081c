#include <string>

#include "cpu/kernels/kernels.h"
#include "cpu/lanes/kernel.h"

namespace knn::cpu {

const LaneKernels& chosen_lanes() {
#if defined(__x86_64__)
    const std::string name = instruction_set();
    if (name == "amx" || name == "avx512vnni") return lanes_avx512;
    if (name == "avxvnni" || name == "avx2") return lanes_avx2;
#endif
    return lanes_plain;
}

}  // namespace knn::cpu
