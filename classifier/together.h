#pragma once

#include <cstddef>
#include <functional>

#include "data/core/watch.h"

namespace knn {

/// Runs work(0) to work(jobs - 1) at the same time, each on a thread of its own with a watch of its own, and waits
/// for all. The caller's thread reports the progress of all to `watch`. If one fails, the others are stopped, and
/// its exception is thrown again: the first by number. Throws Interrupted.
void run_together(std::size_t jobs, std::int64_t n_query, const Watch& watch,
                  const std::function<void(std::size_t job, const Watch& watch)>& work);

}  // namespace knn
