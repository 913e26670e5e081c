#pragma once
/// All outputs of a report.

#include <filesystem>
#include <vector>

#include "app/cli/options.h"
#include "app/console/destinations.h"
#include "classifier/evaluation.h"

namespace knn {

/// All files that `write_outputs` will write. Throws UsageError if two of them are one.
Destinations destinations(const OutputOptions& output);

/// All files that are read: these and those of --method.
std::vector<std::filesystem::path> inputs_of(const Options& options,
                                             std::vector<std::filesystem::path> files);

/// Writes the files of --report, all together or not at all. Throws DataError, Interrupted.
void write_report(const Evaluation& evaluation, const OutputOptions& output);
/// Adds them to the destinations.
void add_report(Destinations& destinations, const OutputOptions& output);

/// Prints the report and writes every file that was asked for; those of a report's folder all together or not
/// at all. What fails does not keep the others from being written; then throws the first error. Throws
/// Interrupted if the user asked to stop, and then leaves none of the files and no folder for them.
void write_outputs(const Evaluation& evaluation, const OutputOptions& output);

}  // namespace knn
