#pragma once
/// The engine `cpu`: the same answers on the host, with exact 8-bit arithmetic and a running k-best per
/// query.

#include "data/search.h"

namespace knn::cpu {

/// The processor as `info` and the report show it.
Device device();

/// The threads that this process may use (affinity and cgroup quota respected), at least 1.
int available_threads();

/// Why this engine cannot answer the problem.
Refusal refuse(const Problem& problem);

/// Same signature and answers as gpu::search; the result does not depend on the number of threads or on the
/// batch. Throws UsageError (refused problem), DataError (not enough memory), Interrupted.
SearchResult search(const SearchRequest& request, const Watch& watch);

}  // namespace knn::cpu
