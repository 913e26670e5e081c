// A cache file: CacheHeader, `key_bytes` of key, one CRC-32 for each piece of the payload, then at the next
// multiple of 64 bytes the payload, which ends the file. Numbers in the order of the machine, which reads no
// files but its own; another order shows in the magic number.
#include "data/set/cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "data/core/element_type.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/atomic_file.h"
#include "data/file/transfer.h"

namespace knn {

namespace {

namespace fs = std::filesystem;
using View = std::span<const std::uint8_t>;

struct CacheHeader {
    std::uint64_t magic;
    std::uint64_t key_bytes, payload_bytes;
    std::uint64_t crc;  ///< CRC-32 of the key and of the pieces' checksums
};

constexpr std::uint64_t magic_number = 0x3165686361636b6d;  // "mkcache1"
constexpr std::uint64_t alignment = 64, piece_bytes = 1 << 20;
constexpr std::uint64_t max_key_bytes = 1 << 16;

std::uint64_t rounded_up(std::uint64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

std::uint64_t count_pieces(std::uint64_t bytes) {
    return (bytes + piece_bytes - 1) / piece_bytes;
}

std::uint32_t crc_of(View bytes, std::uint32_t before = 0) {
    if (bytes.empty()) return before;  // for a null pointer zlib would ignore `before`
    return static_cast<std::uint32_t>(crc32_z(before, bytes.data(), bytes.size()));
}

/// Whether each piece has its checksum.
bool is_whole(View payload, const std::uint8_t* checksums, int threads) {
    std::atomic<bool> good = true;
    const auto pieces = static_cast<std::int64_t>(count_pieces(payload.size()));
    for_pieces(pieces, std::max(threads, 1), [&](std::int64_t piece) {
        const auto i = static_cast<std::uint64_t>(piece), first = i * piece_bytes;
        const View bytes = payload.subspan(first, std::min(piece_bytes, payload.size() - first));
        if (good && crc_of(bytes) != load_as<std::uint32_t>(checksums + i * sizeof(std::uint32_t)))
            good = false;
    });
    return good;
}

/// The checksums of the pieces of `parts`, joined.
std::vector<std::uint32_t> checksums_of(std::span<const View> parts) {
    std::vector<std::uint32_t> checksums;
    std::uint64_t filled = piece_bytes;  // of the current piece; a full one makes the next byte begin another
    for (View rest : parts)
        while (!rest.empty()) {
            if (filled == piece_bytes) {
                checksums.push_back(0);
                filled = 0;
            }
            const View now = rest.first(std::min<std::size_t>(rest.size(), piece_bytes - filled));
            checksums.back() = crc_of(now, checksums.back());
            filled += now.size();
            rest = rest.subspan(now.size());
        }
    return checksums;
}

std::uint64_t head_bytes(const CacheHeader& header) {
    return sizeof header + header.key_bytes + count_pieces(header.payload_bytes) * sizeof(std::uint32_t);
}

/// Whether a cache file with a key of so many bytes may begin with this and have this size.
bool may_begin(const CacheHeader& header, std::uint64_t size, std::size_t key_bytes) {
    return header.magic == magic_number && header.key_bytes == key_bytes && key_bytes <= max_key_bytes &&
           header.payload_bytes <= size && size == rounded_up(head_bytes(header)) + header.payload_bytes;
}

/// All bytes of a regular file that only this user can have written and whose beginning fits. Does not follow symbolic
/// links.
std::shared_ptr<const std::uint8_t> mapped_content(const fs::path& path, std::size_t key_bytes,
                                                   std::size_t& size) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    struct stat status = {};
    if (!file.is_open() || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size <= 0 || status.st_uid != ::geteuid())
        return nullptr;
    size = static_cast<std::size_t>(status.st_size);
    // MAP_POPULATE reads all of the file: of one that is none of ours that may be any number of bytes.
    CacheHeader header = {};
    if (::pread(file.number(), &header, sizeof header, 0) != ssize_t{sizeof header} ||
        !may_begin(header, size, key_bytes))
        return nullptr;
    void* const place = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.number(), 0);
    if (place == MAP_FAILED) return nullptr;
    ::futimens(file.number(), nullptr);  // it was used now: `make_room` removes others first
    return {static_cast<const std::uint8_t*>(place), [place, size](const void*) { ::munmap(place, size); }};
}

fs::path absolute_folder(const char* variable) {
    const char* value = std::getenv(variable);
    const fs::path folder = value != nullptr ? value : "";
    return folder.is_absolute() ? folder : fs::path();
}

/// Whether something could not be kept.
std::atomic<bool> has_lost_something = false;

bool is_own_folder(const fs::path& folder) {
    struct stat status = {};
    return ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

/// Makes the folder that `cache_folder` names; a home that does not exist is not made.
void make_cache_folder(const fs::path& folder) {
    std::error_code error;
    if (fs::exists(folder, error)) return;
    const fs::path base = folder.parent_path();
    if (!fs::exists(base, error) && fs::exists(base.parent_path(), error)) ::mkdir(base.c_str(), 0700);
    ::mkdir(folder.c_str(), 0700);
}

struct CacheFile {
    fs::path name;
    std::uint64_t bytes;
    fs::file_time_type used;
};

struct CacheFiles {
    std::vector<CacheFile> files;
    std::vector<std::string> unknown;  ///< "FILE: why": what could not be looked into
};

/// The files in the user's own cache folder that `put_cached` wrote, also unfinished ones.
CacheFiles cache_files() {
    CacheFiles found;
    const fs::path folder = cache_folder();
    std::error_code error;
    const fs::file_status status = fs::status(folder, error);
    if (folder.empty() || status.type() == fs::file_type::not_found) return found;
    if (!error && !is_own_folder(folder)) {
        found.unknown.push_back(folder.string() +
                                (fs::is_directory(status) ? ": belongs to another user" : ": is no folder"));
        return found;
    }
    fs::directory_iterator entry;
    if (!error) entry = fs::directory_iterator(folder, error);
    for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
        std::error_code none;
        if (!fs::is_regular_file(entry->symlink_status(none))) continue;
        std::uint64_t magic = 0;
        std::ifstream content(entry->path(), std::ios::binary);
        content.read(reinterpret_cast<char*>(&magic), sizeof magic);
        const CacheFile file{entry->path(), entry->file_size(none), entry->last_write_time(none)};
        if (!content.is_open())
            found.unknown.push_back(file.name.string() + ": cannot be read");
        else if (magic == magic_number && !none)
            found.files.push_back(file);
    }
    if (error) found.unknown.push_back(folder.string() + ": cannot be read: " + error.message());
    return found;
}

std::uint64_t file_bytes(const std::string& key, std::span<const View> pieces) {
    std::uint64_t payload = 0;
    for (const View piece : pieces)
        payload += piece.size();
    return rounded_up(sizeof(CacheHeader) + key.size() + count_pieces(payload) * sizeof(std::uint32_t)) +
           payload;
}

/// Removes what was not used for the longest time, until `bytes` more fit. False if they do not fit.
bool make_room(const fs::path& name, std::uint64_t bytes) {
    const std::uint64_t limit = cache_limit();
    if (bytes > limit) return false;
    std::vector<CacheFile> others = cache_files().files;
    std::erase_if(others, [&](const CacheFile& file) { return file.name == name; });  // is replaced
    std::ranges::sort(others, {}, &CacheFile::used);
    for (const CacheFile& file : others)
        bytes += file.bytes;
    for (const CacheFile& file : others) {
        std::error_code none;
        if (bytes > limit && fs::remove(file.name, none)) bytes -= file.bytes;
    }
    return bytes <= limit;
}

}  // namespace

fs::path cache_folder() {
    if (const fs::path base = absolute_folder("XDG_CACHE_HOME"); !base.empty())
        return base == "/dev/null" ? fs::path() : base / "mnist-knn";
    const fs::path home = absolute_folder("HOME");
    return home.empty() ? fs::path() : home / ".cache" / "mnist-knn";
}

bool is_own_cache() {
    return is_own_folder(cache_folder());
}

std::uint64_t cache_limit() {
    constexpr std::uint64_t usual_mb = 1000, most_mb = 1'000'000'000, bytes_per_mb = 1'000'000;
    const char* value = std::getenv("MNIST_KNN_CACHE_MB");
    const std::string_view text = value != nullptr ? value : "";
    if (text.empty()) return usual_mb * bytes_per_mb;
    const auto mb = number_of<std::uint64_t>(text);
    if (!mb || *mb > most_mb)
        throw UsageError("MNIST_KNN_CACHE_MB: '" + std::string(text) +
                         "' is no number of megabytes; expected 0 to 1000000000, such as 1000");
    return *mb * bytes_per_mb;
}

std::uint64_t cache_bytes() {
    std::uint64_t sum = 0;
    for (const CacheFile& file : cache_files().files)
        sum += file.bytes;
    return sum;
}

std::uint64_t clear_cache() {
    std::uint64_t sum = 0;
    auto [files, left] = cache_files();
    for (const CacheFile& file : files) {
        std::error_code error;
        if (!fs::remove(file.name, error) && error)
            left.push_back(file.name.string() + ": cannot be removed: " + error.message());
        else
            sum += file.bytes;
    }
    if (!left.empty())
        throw DataError(left[0] +
                        (left.size() > 1 ? ", and " + std::to_string(left.size() - 1) + " more" : "") +
                        "; expected a folder of yours, and permission to write in it");
    return sum;
}

std::optional<CachedBytes> read_cached(const std::string& name, const std::string& key, int threads) {
    const fs::path folder = cache_folder();
    if (folder.empty() || !is_own_folder(folder)) return std::nullopt;
    std::size_t size = 0;
    auto content = mapped_content(folder / name, key.size(), size);
    if (content == nullptr) return std::nullopt;
    return open_cached(std::move(content), size, key, threads);
}

std::optional<CachedBytes> open_cached(std::shared_ptr<const std::uint8_t> content, std::size_t size,
                                       const std::string& key, int threads) {
    if (size < sizeof(CacheHeader)) return std::nullopt;
    CachedBytes cached;
    cached.content = std::move(content);
    const auto header = load_as<CacheHeader>(cached.content.get());
    if (!may_begin(header, size, key.size())) return std::nullopt;
    const std::uint64_t checksum_bytes = count_pieces(header.payload_bytes) * sizeof(std::uint32_t);
    const View described(cached.content.get() + sizeof header, key.size() + checksum_bytes);
    if (crc_of(described) != header.crc || std::memcmp(described.data(), key.data(), key.size()) != 0)
        return std::nullopt;
    cached.payload = {cached.content.get() + rounded_up(head_bytes(header)), header.payload_bytes};
    if (!is_whole(cached.payload, described.data() + key.size(), threads)) return std::nullopt;
    return cached;
}

void write_cached(const std::string& name, const std::string& key, std::span<const View> pieces) noexcept
    try {
    const fs::path folder = cache_folder();
    if (folder.empty() || key.size() > max_key_bytes) return;
    if (!make_room(folder / name, file_bytes(key, pieces))) return;
    make_cache_folder(folder);
    if (!is_own_folder(folder)) throw DataError("no folder of this user");
    write_file_atomically((folder / name).string(), [&](std::ostream& out) { put_cached(out, key, pieces); },
                          false);
} catch (...) {  // whatever it was: the next start reads the source again
    has_lost_something = true;
}

std::string cache_notice() {
    if (!has_lost_something) return "";
    return cache_folder().string() +
           ": the cache cannot be written, so that every run is as slow as the first; expected a folder of "
           "yours with room (XDG_CACHE_HOME=/dev/null: no cache)";
}

void put_cached(std::ostream& out, const std::string& key, std::span<const View> pieces) {
    const std::vector<std::uint32_t> checksums = checksums_of(pieces);
    CacheHeader header = {magic_number, key.size(), 0, crc_of(bytes_of(checksums), crc_of(bytes_of(key)))};
    for (const View piece : pieces)
        header.payload_bytes += piece.size();
    const auto put = [&](View bytes) {
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    };
    const std::uint64_t head = sizeof header + key.size() + bytes_of(checksums).size();
    put(bytes_of(std::span(&header, 1)));
    put(bytes_of(key));
    put(bytes_of(checksums));
    put(bytes_of(std::string(rounded_up(head) - head, '\0')));
    for (const View piece : pieces)
        put(piece);
}

}  // namespace knn
