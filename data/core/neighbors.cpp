#include "data/core/neighbors.h"

#include "data/core/round_up.h"

namespace knn {

// Not inline: callers are compiled with little optimization, which visits each of billions of elements to leave it as it is
// here, and to destroy nothing at the end.
Neighbors::Neighbors(std::int64_t n_query_, int k_) : n_query(n_query_), k(k_), rows(at(n_query_) * at(k_)) {}
Neighbors::~Neighbors() = default;

}  // namespace knn
