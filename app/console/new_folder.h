#pragma once

#include <filesystem>
#include <vector>

namespace knn {

/// Creates a folder and its parents; removes the new ones again if nothing was written into them.
class NewFolder {
  public:
    NewFolder() = default;
    NewFolder(const NewFolder&) = delete;
    NewFolder& operator=(const NewFolder&) = delete;
    ~NewFolder();

    /// Throws DataError.
    void make(const std::filesystem::path& folder);

  private:
    std::vector<std::filesystem::path> made_;  ///< the innermost first
};

}  // namespace knn
