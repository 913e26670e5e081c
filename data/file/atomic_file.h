#pragma once
/// Files that are there whole or not at all.

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>

namespace knn {

/// The descriptor that /dev/stdout, /dev/fd/7 and the like stand for, also through symbolic links.
std::optional<int> named_descriptor(const std::filesystem::path& file);

/// Where a chain of symbolic links ends, even when nothing is there yet. Stops at the name of a descriptor.
std::filesystem::path follow_links(std::filesystem::path file);

/// Lets `write` fill a file beside `file` and renames it into its place once all of it is written and on the
/// disk: a power cut, too, leaves the old file or the new one.
///
/// Whatever ends `write` early (a full disk, an exception such as Interrupted) removes the unfinished file
/// and leaves `file` as it was. A new file gets the mode that the umask says; a replaced one keeps its owner,
/// group and permissions, or is not replaced if that is not permitted. A symbolic link is followed, not replaced.
/// What is there and is no regular file (/dev/stdout, /dev/full, a pipe) is written straight, since nothing
/// can be renamed onto it.
///
/// Throws DataError "FILE: cannot be written: REASON; what was expected", and whatever `write` throws.
void write_file_atomically(const std::filesystem::path& file,
                           const std::function<void(std::ostream&)>& write);

/// A new file, whatever had its name (a link, a pipe): that is neither followed nor written to. Not made to
/// outlast a power cut: for files that are checked when they are read. Throws as write_file_atomically does.
void replace_file(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write);

}  // namespace knn
