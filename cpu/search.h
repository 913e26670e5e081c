#pragma once
/// The engine `cpu`: the same answers on the host, with exact 8-bit arithmetic and a running k-best per
/// query.

#include <memory>
#include <string>
#include <vector>

#include "data/core/device_index.h"

namespace knn::cpu {

/// The processor as `info` and the report show it.
Device device();

/// The threads that this process may use (affinity and cgroup quota respected), at least 1.
int available_threads();
/// `wanted`, or all of them if that is 0.
int threads_or_all(int wanted);

/// The instruction sets that this processor can run, best first: of amx, avx512vnni, avxvnni, avx2,
/// plain.
std::vector<std::string> instruction_sets();

/// The one that a search uses: the best, or the one named by the environment variable MNIST_KNN_ISA.
/// Throws UsageError if that is unknown or cannot run here.
std::string instruction_set();

/// The reason why this engine does not support the problem; if it does, sets the plan's kernel, selector and threads.
/// Throws UsageError (bad MNIST_KNN_ISA).
Refusal settle(const Problem& problem, Plan& plan);

/// The engine for a settled plan. It compares rows: queries of a training set with a transform are features. Answers do not
/// depend on the number of threads, the batch size or the instruction set. The first search with enough queries packs the
/// training images into panels. Stages of a search: `pack` (wall time), `distance` and `select` (milliseconds per thread,
/// averaged over the threads, because the two alternate within a fraction of a millisecond). The training set itself takes
/// half as long.
std::unique_ptr<DeviceIndex> open(const Training& training, const Measure& measure, const Plan& plan,
                                  Timeline& timeline);

}  // namespace knn::cpu
