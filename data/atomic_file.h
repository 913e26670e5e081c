#pragma once
/// Files that are there whole or not at all.

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace knn {

/// Lets `write` fill a file beside `file` and renames it into its place once all of it is written.
///
/// Whatever ends `write` early (a full disk, an exception such as Interrupted) removes the unfinished file
/// and leaves `file` as it was. A new file gets the mode that the umask says, a replaced one keeps its own; a
/// symbolic link is followed, not replaced. What is there and is no regular file (/dev/stdout, /dev/full, a
/// pipe) is written straight, since nothing can be renamed onto it.
///
/// Throws DataError "FILE: cannot be written: REASON; what was expected", and whatever `write` throws.
void write_file_atomically(const std::filesystem::path& file,
                           const std::function<void(std::ostream&)>& write);

}  // namespace knn
