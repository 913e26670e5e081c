#pragma once
/// Files that save time at the next start: in the user's cache folder, replaceable, and never needed.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace knn {

/// $XDG_CACHE_HOME/mnist-knn, by default ~/.cache/mnist-knn; empty where neither variable names an absolute
/// folder.
std::filesystem::path cache_folder();

/// How many bytes the files in it have; 0 where there is none.
std::uint64_t cache_bytes();

/// Bytes of a cache file, mapped into memory and checked. Can be moved, not copied.
///
/// Nothing changes them behind the reader's back: a cache file is never written in place, a new one is
/// renamed over it, and the mapping keeps the old one.
class CachedBytes {
  public:
    std::span<const std::uint8_t> span() const { return payload_; }

  private:
    friend std::optional<CachedBytes> read_cached(const std::string&, const std::string&, int);
    std::shared_ptr<const std::uint8_t> mapping_;  ///< of the whole file; unmapped with its last owner
    std::span<const std::uint8_t> payload_;
};

/// What `write_cached` kept under this name, if it was kept with the same key and is whole: the sizes fit and
/// every piece of 1 MiB has its checksum (computed by up to `threads` threads). Everything else is
/// nothing, never an error.
///
/// `name` is that of a file, `key` any text that says what the bytes were made from.
std::optional<CachedBytes> read_cached(const std::string& name, const std::string& key, int threads);

/// Keeps the bytes of `pieces`, one after the other, for `read_cached`. The folder is made where it is
/// missing, readable by the user alone. Where that fails (no such folder, no permission, a full disk) nothing
/// is kept, and nobody is told: the program only starts more slowly.
void write_cached(const std::string& name, const std::string& key,
                  std::span<const std::span<const std::uint8_t>> pieces) noexcept;

}  // namespace knn
