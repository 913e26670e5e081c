#pragma once
/// Files that are complete or absent.

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>

namespace knn {

/// The descriptor that /dev/stdout, /dev/fd/7 and the like stand for, also through symbolic links.
std::optional<int> named_descriptor(const std::filesystem::path& file);

/// Where a chain of symbolic links ends, even when nothing is there yet. Stops at the name of a descriptor.
std::filesystem::path follow_links(std::filesystem::path file);

/// Lets `write` fill a temporary file next to `file` and renames it once all of it is written and synchronized:
/// even after a power failure there is the old file or the new one.
///
/// If `write` fails (a full disk, an exception such as Interrupted), the unfinished file is removed and `file` is
/// unchanged. A new file gets the mode of the umask, a replaced one keeps its permissions. A symbolic link is followed,
/// not replaced. An existing file that is not a regular file (/dev/stdout, /dev/full, a pipe) is written directly,
/// because nothing can be renamed onto it.
///
/// Throws DataError "FILE: cannot be written: REASON; what was expected", and whatever `write` throws.
void write_file_atomically(const std::filesystem::path& file,
                           const std::function<void(std::ostream&)>& write);

/// Creates a new file even if the name exists (a link, a pipe), which is replaced and neither followed nor written
/// to. Does not synchronize: for files that are checked when they are read. Throws as write_file_atomically does.
void replace_file(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write);

/// Removes the temporary files of this process. For a process that ends without destructors, also in a signal handler;
/// allocates nothing.
void remove_unfinished_files() noexcept;

}  // namespace knn
