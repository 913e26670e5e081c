#pragma once
/// The experiments, one file each.

#include "data/core/neighbors.h"

namespace knn {

class BenchRun;

/// All distance kernels, all selectors, all engines on one data set.
void run_compare(BenchRun& run);

void run_garrett(BenchRun& run);
void run_nolan(BenchRun& run);
void run_komarov(BenchRun& run);
void run_singh(BenchRun& run);
void run_zhu(BenchRun& run);

/// The k-nearest-neighbor graph of the training set.
void run_graph(BenchRun& run);

/// Every transform, on the CPU and on the GPU.
void run_transforms(BenchRun& run);

/// Every re-ranker, on the CPU and on the GPU.
void run_rerank(BenchRun& run);

}  // namespace knn
