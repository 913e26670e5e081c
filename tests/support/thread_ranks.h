#pragma once
/// Ranks as threads of one process: what mpirun does, without MPI.

#include <functional>

#include "classifier/ranks.h"

namespace knn::test {

/// Runs work(ranks) on `size` threads, each with a rank of its own, and waits for all. Rethrows the first exception.
void run_ranks(int size, const std::function<void(Ranks&)>& work);

}  // namespace knn::test
