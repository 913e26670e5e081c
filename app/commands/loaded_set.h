#pragma once
/// A data set in memory, ready to be opened by a classifier: what the commands that evaluate have in common.

#include <memory>
#include <string>

#include "app/cli/options.h"
#include "classifier/plan.h"
#include "data/set/dataset.h"
#include "data/set/locate.h"

namespace knn {

class LoadedSet {
  public:
    /// Reads the files, into pinned memory where a GPU will read it, while the planner looks for GPUs. Tells on
    /// standard error what the user should know: synthetic digits, no GPU. Throws DataError, DeviceError,
    /// UsageError.
    LoadedSet(Planner& planner, const DataLocation& location, const Options& options);

    const Dataset& data() const { return data_; }
    const Resolved& resolved() const { return resolved_; }
    /// The first images of each set, as many as the options say.
    const Training& training() const { return training_; }
    const Rows& queries() const { return queries_; }
    double load_ms() const { return load_ms_; }

  private:
    std::unique_ptr<HostMemory> memory_;
    Dataset data_;
    Training training_;
    Rows queries_;
    Resolved resolved_;
    double load_ms_ = 0;
};

/// The first `n` training images and their labels; 0: all.
Training first_images(const Rows& images, std::span<const std::uint8_t> labels, std::int64_t n);

/// What the user should know of where the data comes from: that it is synthetic, that a folder which looks
/// like a data set was passed over. Empty: nothing.
std::string data_notice(const DataLocation& location);

/// "note: TEXT" on standard error, unless the text is empty. What changes the meaning of the results is told
/// even with --quiet.
void note(const std::string& text);
/// The same, unless the user wants quiet.
void note(const std::string& text, const OutputOptions& output);

}  // namespace knn
