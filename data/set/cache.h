#pragma once
/// Files in the user's cache folder that make the next start faster; never required.

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace knn {

/// $XDG_CACHE_HOME/mnist-knn, by default ~/.cache/mnist-knn; empty if neither variable names an absolute
/// folder, or if $XDG_CACHE_HOME is /dev/null: then there is no cache.
std::filesystem::path cache_folder();

/// Whether it is a folder of this user: nothing is read from another's or written there.
bool is_own_cache();

/// The most bytes that its files may have: 1 GB, or as many megabytes as $MNIST_KNN_CACHE_MB says. Where a new file would
/// exceed it, `write_cached` first removes those that were not used for the longest time; what is larger by itself is not
/// kept. Throws UsageError.
std::uint64_t cache_limit();

/// The total size of its files; 0 if it does not exist or is another user's.
std::uint64_t cache_bytes();

/// Removes its files, but not what else is in the folder; how many bytes they had. Throws DataError where some stay, or where
/// it cannot be known which there are.
std::uint64_t clear_cache();

/// The bytes of an array.
template <class Array>
std::span<const std::uint8_t> bytes_of(const Array& array) {
    return {reinterpret_cast<const std::uint8_t*>(array.data()), array.size() * sizeof array[0]};
}

/// Verified bytes of a cache file. They do not change: a new file is renamed over the old one.
struct CachedBytes {
    std::shared_ptr<const std::uint8_t> content;  ///< of the whole file
    std::span<const std::uint8_t> payload;

    std::span<const std::uint8_t> span() const { return payload; }
};

/// What `write_cached` kept under this name, if it was kept with the same key and is whole: the sizes fit and
/// every piece of 1 MiB has its checksum (computed by up to `threads` threads). Otherwise
/// nothing, never an error: also if it is not a regular file, or if it or its folder belongs to another user.
///
/// `name` is that of a file, `key` any text that says what the bytes were made from.
std::optional<CachedBytes> read_cached(const std::string& name, const std::string& key, int threads);

/// The same of `size` bytes that a cache file has.
std::optional<CachedBytes> open_cached(std::shared_ptr<const std::uint8_t> content, std::size_t size,
                                       const std::string& key, int threads);

/// Stores the bytes of `pieces`, one after the other, for `read_cached`; replaces whatever has this name.
/// Creates the folder if it is missing, readable only by the user. If that fails (no such folder, no
/// permission, a full disk) nothing is kept, which is no error: the program only starts more slowly.
void write_cached(const std::string& name, const std::string& key,
                  std::span<const std::span<const std::uint8_t>> pieces) noexcept;

/// A note that this process could not keep something in the cache; empty if it could.
std::string cache_notice();

/// The bytes of that file.
void put_cached(std::ostream& out, const std::string& key,
                std::span<const std::span<const std::uint8_t>> pieces);

}  // namespace knn
