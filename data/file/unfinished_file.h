#pragma once
/// A file that is being written beside its place.

#include <sys/types.h>

#include <filesystem>

#include "data/file/file_descriptor.h"

namespace knn {

/// A new file `.mnist-knn-PID-N.tmp` in the folder of its place; gone with this object unless it was renamed.
///
/// It is locked while its process lives. The next one in the same folder removes what is no longer locked:
/// the files of runs that were killed.
class UnfinishedFile {
  public:
    /// `descriptor` is not open where that fails; errno says why. The umask applies to `mode`.
    UnfinishedFile(std::filesystem::path place, mode_t mode);
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;
    ~UnfinishedFile();

    /// False (and errno) where that fails.
    bool rename_to_place();

    FileDescriptor descriptor;

  private:
    std::filesystem::path place_, path_;
    bool renamed_ = false;
};

}  // namespace knn
