#pragma once
/// The evaluation of a test set, for `evaluate` and `view`.

#include "app/commands/loading.h"
#include "classifier/evaluation.h"
#include "data/core/clock.h"

namespace knn {

/// A test set, classified and scored.
struct Evaluated {
    std::unique_ptr<LoadedSet> set;
    Evaluation evaluation;  ///< of the images of `set`
};

/// `start`: when the command began; with_confidence: fits confidences. Throws DataError, DeviceError, UsageError, Interrupted.
Evaluated evaluate_test_set(const Options& options, Clock::time_point start, bool with_confidence);

}  // namespace knn
