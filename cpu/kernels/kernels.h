#pragma once
/// The table of instruction sets, and the choice among them.

#include <string>
#include <vector>

#include "cpu/kernels/kernel.h"

namespace knn::cpu {

/// The instruction sets that this processor can run, best first: of amx, avx512vnni, avxvnni, avx2, plain.
std::vector<std::string> instruction_sets();

/// The one that a search uses: the best, or the one named by the environment variable MNIST_KNN_ISA. Throws UsageError if
/// that is unknown or cannot run here.
std::string instruction_set();

/// The best that this processor supports, or the one named by MNIST_KNN_ISA. An instruction set that has only
/// `squares` falls back to the next one. Throws UsageError if the name is unknown or unsupported here,
/// listing those that are supported.
const Kernel& chosen_kernel(Arithmetic arithmetic = Arithmetic::squares);

}  // namespace knn::cpu
