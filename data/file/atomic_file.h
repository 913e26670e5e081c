#pragma once
/// Files that are complete or absent.

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "data/file/transfer.h"

namespace knn {

/// Where a chain of symbolic links ends, even when nothing is there yet.
std::filesystem::path follow_links(std::filesystem::path file);

/// The open descriptor that `file` stands for: "-" is 1, /dev/stderr 2, /dev/fd/N and links to it N. -1: it is the name of a file.
int descriptor_of(const std::string& file);

inline bool is_standard_output(const std::string& file) {
    return descriptor_of(file) == 1;
}

/// Throws DataError "FILE: cannot be written: REASON; what was expected" for this error of the system.
[[noreturn]] void fail_to_write(const std::string& file, int error);

/// A file that is written under a temporary name in its folder, and renamed when it is complete.
///
/// A new file gets the mode of the umask; a replaced one keeps its permissions. A symbolic link is followed, not replaced.
/// What stands for a descriptor, and what exists and is not a regular file (a pipe, a device), is written directly.
/// All functions throw DataError "FILE: cannot be written: REASON; what was expected", and Interrupted.
class AtomicFile {
  public:
    /// With `lasting` false a new file is created even if the name exists (a link, a pipe), which is replaced and neither
    /// followed nor written to, and nothing waits for the disk: for files that are checked when they are read.
    explicit AtomicFile(const std::string& file, bool lasting = true);
    ~AtomicFile();

    std::ostream& stream() { return *stream_; }
    /// Throws if something could not be written. A reader of standard output that went away is no error.
    void check() const;
    /// Closes the file and, where `lasting`, waits for the disk before.
    void finish();
    /// After `finish`.
    void put_in_place();

  private:
    std::string file_;
    bool lasting_;
    std::filesystem::path place_;  ///< empty where the file is written directly
    /// The name until then; the destructor removes the file.
    struct Temporary {
        std::filesystem::path name;
        ~Temporary();
    } temporary_;
    FileDescriptor descriptor_;
    std::unique_ptr<class DescriptorBuffer> buffer_;
    std::unique_ptr<std::ostream> stream_;
};

/// Removes the temporary files of this process, which ends without destructors.
void remove_unfinished_files() noexcept;

/// Lets `write` fill an AtomicFile. Throws also what `write` throws; `file` is then unchanged.
void write_file_atomically(const std::string& file, const std::function<void(std::ostream&)>& write,
                           bool lasting = true);

}  // namespace knn
