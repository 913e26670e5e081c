#pragma once
/// The results of an evaluation, printed and in files.

#include <filesystem>
#include <vector>

#include "app/console/destinations.h"
#include "classifier/evaluation.h"

namespace knn {

/// All files that are read: these and those of --method.
std::vector<std::filesystem::path> inputs_of(const Options& options,
                                             std::vector<std::filesystem::path> files);

/// Writes the files of --report, all or none. Throws DataError, Interrupted.
void write_report(const Evaluation& evaluation, const OutputOptions& output);

/// Prints the report, then writes every file that was asked for, all or none, and no folder for them. Throws DataError,
/// Interrupted.
void write_outputs(const Evaluation& evaluation, const OutputOptions& output);

}  // namespace knn
