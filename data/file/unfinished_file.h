#pragma once
/// A temporary file, written in the folder of the file that it will replace.

#include <sys/types.h>

#include <filesystem>

#include "data/file/file_descriptor.h"

namespace knn {

/// A new file `.mnist-knn-PID-N.tmp` in the folder of its target; removed by the destructor unless it was
/// renamed.
///
/// It is locked while its process lives. The next one in the same folder removes files that are no longer
/// locked: those of runs that were killed.
class UnfinishedFile {
  public:
    /// If that fails, `descriptor` is not open, and errno says why. The umask applies to `mode`.
    UnfinishedFile(std::filesystem::path place, mode_t mode);
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;
    ~UnfinishedFile();

    /// False (with errno) if that fails.
    bool rename_to_place();

    FileDescriptor descriptor;

  private:
    friend void remove_unfinished_files() noexcept;

    std::filesystem::path place_, path_;
    bool renamed_ = false;
    UnfinishedFile *next_ = nullptr, *previous_ = nullptr;  ///< of all of this process
};

/// Removes those of this process that are not renamed. For a process that ends without destructors, also in a signal
/// handler; allocates nothing.
void remove_unfinished_files() noexcept;

}  // namespace knn
