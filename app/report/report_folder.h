#pragma once
/// The folder of --report.

#include <vector>

#include "app/console/output.h"
#include "classifier/evaluation.h"

namespace knn {

/// Its files, with all that takes long done before the first is written; `evaluation` must outlive them. Throws DataError,
/// Interrupted.
std::vector<OutputFile> report_folder(const Evaluation& evaluation, const OutputOptions& output);

}  // namespace knn
