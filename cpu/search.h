#pragma once
/// The engine `cpu`: the same answers on the host, with exact 8-bit arithmetic and a running k-best per
/// query.

#include <memory>

#include "data/core/device_index.h"

namespace knn::cpu {

/// The reason why this engine does not support the problem; if it does, sets the plan's kernel, selector and threads.
/// Throws UsageError (bad MNIST_KNN_ISA).
UnsupportedReason configure(const Problem& problem, Plan& plan);

/// The engine for a configured plan. It compares rows: queries of a training set with a transform are features. Answers do not
/// depend on the number of threads, the batch size or the instruction set. The first search with enough queries packs the
/// training images into panels. Stages of a search: `pack` (wall time), `distance` and `select` (milliseconds per thread,
/// averaged over the threads, because the two alternate within a fraction of a millisecond). A search of
/// the training set in itself takes half as long. By l2, cosine and pearson sketches may spare most exact distances (Plan::sketch,
/// cpu/sketch_scanner.h): stages `sketch` and `refine`.
std::unique_ptr<DeviceIndex> open(const Training& training, const Measure& measure, const Plan& plan,
                                  Timeline& timeline);

}  // namespace knn::cpu
