#pragma once
/// The one table of instruction sets, and the choice among them.

#include <span>

#include "cpu/kernels/kernel.h"

namespace knn::cpu {

/// All that this build has for an arithmetic, best first; the last one runs everywhere.
std::span<const Kernel* const> kernels(Arithmetic arithmetic = Arithmetic::squares);

/// The best that this processor can run, or the one that MNIST_KNN_ISA names. An instruction set that has
/// `squares` alone is passed over for the next one.
/// Throws UsageError where that is unknown or cannot run here, naming those that can.
const Kernel& chosen_kernel(Arithmetic arithmetic = Arithmetic::squares);

}  // namespace knn::cpu
