#pragma once
/// What users should know beside the results, on standard error.

#include <string>

#include "app/cli/options.h"
#include "data/set/locate.h"

namespace knn {

/// A note for the user if the data is synthetic, or if incomplete data sets were skipped; else empty.
std::string data_notice(const DataLocation& location);

/// The same for commands that compare a user's pictures with the data: what that costs without MNIST, and how to get it.
std::string data_notice_of_pictures(const DataLocation& location);

/// Prints "note: TEXT" on standard error, unless the text is empty; also with --quiet, for notes that change the
/// meaning of the results.
void note(const std::string& text);
/// The same, except with --quiet.
void note(const std::string& text, const OutputOptions& output);

}  // namespace knn
