#pragma once

#include <memory>

#include "classifier/plan.h"

namespace knn {

/// Opens the training set as the plan says: on one device, on several, or on those of several processes. Throws as
/// Engine::open.
std::unique_ptr<Searcher> open_search(const Training& training, const Measure& measure,
                                      const Resolved& resolved, Timeline& timeline);

}  // namespace knn
