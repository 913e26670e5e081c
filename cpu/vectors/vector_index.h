#pragma once
/// The engine `cpu` for rows that are not uint8: exact distances in double precision (data/core/exact_distance.h), the same bytes for
/// any number of threads and any instruction set.
///
///   few queries, few rows, metric lp     every pair (exhaustive.h)
///   else                                 rows are quantized once; a search of bytes finds candidates; their exact distances, until
///                                        no other row can be nearer; queries for which that needs too many, by every pair
///
/// A sample of the queries says how many candidates are worth it. Stages: `quantize`, those of the search of bytes, `refine`, and
/// `distance` for every pair.

#include <memory>

#include "data/core/device_index.h"

namespace knn::cpu {

/// Opens rows of bytes by a plan for them: the engine's own, which this one uses.
using OpenBytes = std::unique_ptr<DeviceIndex> (*)(const Rows& rows, const Measure& measure,
                                                   const Plan& plan);

/// As `configure` of cpu/search.h, for real rows.
UnsupportedReason configure_vectors(const Problem& problem, Plan& plan);

/// Takes no time: the first search looks at all rows (stage `check`), and throws DataError if an element is not finite or too large.
std::unique_ptr<DeviceIndex> open_vectors(const Rows& rows, const Measure& measure, const Plan& plan,
                                          OpenBytes open_bytes);

}  // namespace knn::cpu
