#pragma once
/// A data set in memory and the engine that searches it: what the commands that evaluate have in common.

#include <memory>

#include "app/cli/options.h"
#include "classifier/choose.h"
#include "classifier/engines.h"
#include "classifier/evaluation.h"
#include "data/set/locate.h"

namespace knn {

/// Loads a data set while GPUs are being looked for, and keeps both.
class Workbench {
  public:
    /// Tells on standard error what the user should know: synthetic digits, no GPU. Throws DataError,
    /// DeviceError, UsageError.
    Workbench(Chooser& chooser, const DataLocation& location, const Options& options);

    const Dataset& data() const { return data_; }
    /// The search that the options ask for, over the whole test set or the first images of it.
    const SearchRequest& request() const { return request_; }
    double load_ms() const { return load_ms_; }

    /// The engine's answer for these images, with a bar on the terminal until it is there.
    SearchResult search(const Rows& query) const;

    /// What was asked for and what was chosen, for the report.
    Settings settings(const SearchResult& found) const;

  private:
    const Options& options_;
    std::unique_ptr<HostMemory> memory_;
    Dataset data_;
    SearchRequest request_;
    Choice choice_;
    double load_ms_ = 0;
};

/// Classifies the test set. The bench outlives the evaluation.
Evaluation evaluation_of(const Workbench& bench);

/// What the user should know of where the data comes from: that it is synthetic, that a folder which looks
/// like a data set was passed over. Empty: nothing.
std::string data_notice(const DataLocation& location);

/// "note: TEXT" on standard error, unless the text is empty. What changes the meaning of the results is told
/// even with --quiet.
void note(const std::string& text);
/// The same, unless the user wants quiet.
void note(const std::string& text, const OutputOptions& output);

}  // namespace knn
