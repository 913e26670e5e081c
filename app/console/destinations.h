#pragma once
/// The files that a command will write, checked before the work begins.

#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/option_table.h"

namespace knn {

/// Collects all outputs of a command, then checks them against its inputs.
class Destinations {
  public:
    Destinations() = default;
    /// All that the options name. Throws UsageError if two of them are one file, under any spelling.
    explicit Destinations(const Options& options);

    /// One more. Throws UsageError as the constructor.
    void add(OutputPlace added);

    /// Throws DataError where an output is one of the files that are read, or cannot be written.
    void check(const std::vector<std::filesystem::path>& inputs) const;

  private:
    std::vector<OutputPlace> all_;
};

}  // namespace knn
