#pragma once
/// Rows that are not uint8, searched by the engine `cpu`, or by an engine on a GPU that searches their bytes: exact distances in double
/// precision (data/core/exact_distance.h), the same for any engine, number of threads and instruction set.
///
///   few queries, few rows, metric lp     every pair (search_exhaustively)
///   else                                 rows are quantized once; a search of bytes finds candidates; their exact distances, until
///                                        no other row can be nearer; queries for which that needs too many, by every pair
///
/// A sample of the queries says how many candidates are worth it. Stages: `quantize`, those of the search of bytes, `refine`, and
/// `distance` for every pair.

#include <memory>
#include <optional>

#include "data/core/device_index.h"

namespace knn::cpu {

/// Opens rows of bytes by a plan for them: the search of an engine, which this one uses.
using OpenBytes = std::unique_ptr<DeviceIndex> (*)(const Rows& rows, const Measure& measure,
                                                   const Plan& plan);

/// As `configure` of cpu/search.h, for real rows.
UnsupportedReason configure_vectors(Plan& plan);

/// The search of bytes for a problem of real rows, which will find more neighbors, up to what the engine finds; none by lp.
std::optional<Problem> byte_problem(const Problem& problem);

/// Takes no time: the first search looks at all rows (stage `check`), and throws DataError if an element is not finite or too large.
/// plan.threads: of the host. most_k: what `open_bytes` finds; where k leaves no room for candidates beyond it, every pair.
std::unique_ptr<DeviceIndex> open_vectors(const Rows& rows, const Measure& measure, const Plan& plan,
                                          OpenBytes open_bytes, int most_k = max_k);

}  // namespace knn::cpu
