#pragma once
/// All the places where a report goes.

#include "app/options.h"
#include "app/report/evaluation.h"

namespace knn {

/// Before a long search: throws UsageError where two outputs would overwrite one another, DataError where one
/// cannot be written.
void check_outputs(const OutputOptions& output);

/// Prints the report and writes every file that was asked for. What fails does not keep the others from being
/// written; then throws the first error.
void write_outputs(const Evaluation& evaluation, const OutputOptions& output);

}  // namespace knn
