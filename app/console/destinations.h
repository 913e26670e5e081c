#pragma once
/// The files that a command will write, checked before the work begins.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace knn {

/// Collects all outputs of a command, then checks them against its inputs.
class Destinations {
  public:
    /// A file, or "-"; empty: nothing. Throws UsageError if another output is the same file under any
    /// spelling.
    void add(const std::string& option, const std::string& file);

    /// A folder to create, and the files in it.
    void add_folder(const std::string& option, const std::string& folder, std::span<const char* const> names);

    /// Throws DataError where an output is one of the files that are read, or cannot be written.
    void check(const std::vector<std::filesystem::path>& inputs) const;

  private:
    struct Destination {
        std::string option, file;
        std::filesystem::path place;  ///< the same for all names of one place
        bool is_folder = false, in_folder = false;
    };
    void add(Destination added);

    std::vector<Destination> all_;
};

}  // namespace knn
