#pragma once
/// The engine `cpu`: the same answers on the host, with exact 8-bit arithmetic and a running k-best per
/// query.

#include <string>
#include <vector>

#include "data/core/searcher.h"

namespace knn::cpu {

/// The processor as `info` and the report show it.
Device device();

/// The threads that this process may use (affinity and cgroup quota respected), at least 1.
int available_threads();

/// The instruction sets that this processor can run, best first: of amx, avx512vnni, avxvnni, avx2,
/// plain.
std::vector<std::string> instruction_sets();

/// The one that a search uses: the best, or the one named by the environment variable MNIST_KNN_ISA.
/// Throws UsageError where that is unknown or cannot run here.
std::string instruction_set();

/// Why this engine cannot answer the problem.
Refusal refuse(const Problem& problem);

/// Same signature and answers as gpu::search; the result does not depend on the number of threads, on the
/// batch or on the instruction set. Throws UsageError (refused problem, bad MNIST_KNN_ISA), DataError (not
/// enough memory), Interrupted.
/// Stages of the timeline: `pack` (training images into panels), `distance` and `select` (milliseconds of
/// each thread, averaged over the threads, because the two alternate within a fraction of a millisecond) and
/// `vote`. `pack` and `vote` are wall time.
SearchResult search(const SearchRequest& request, const Watch& watch);

}  // namespace knn::cpu
