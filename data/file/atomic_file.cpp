#include "data/file/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <ostream>
#include <streambuf>
#include <string>
#include <utility>

#include "data/core/errors.h"
#include "data/file/file_descriptor.h"
#include "data/file/transfer.h"

namespace knn {

namespace {

namespace fs = std::filesystem;

class UnfinishedFile;

/// All of this process, the newest first, linked through `next`.
std::mutex all_mutex;
UnfinishedFile* newest = nullptr;

/// Locks that list. Meanwhile no signal handler of this thread runs: it may remove the files, and would wait for ever.
class ListLock {
  public:
    ListLock() {
        sigset_t every;
        sigfillset(&every);
        ::pthread_sigmask(SIG_BLOCK, &every, &before_);
        all_mutex.lock();
    }
    ListLock(const ListLock&) = delete;
    ListLock& operator=(const ListLock&) = delete;
    ~ListLock() {
        all_mutex.unlock();
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

  private:
    sigset_t before_ = {};
};

/// A new file `.mnist-knn-PID-N.tmp` in the folder of the file that it will replace; removed by the destructor unless it
/// was renamed.
class UnfinishedFile {
  public:
    /// If that fails, `descriptor` is not open, and errno says why. The umask applies to `mode`.
    UnfinishedFile(const fs::path& place, mode_t mode) {
        static std::atomic<unsigned> counter = 0;
        const fs::path folder = place.has_parent_path() ? place.parent_path() : ".";
        const ListLock lock;  // no signal between the file and its place in the list
        do {
            path = folder /
                   (".mnist-knn-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp");
            descriptor = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
        } while (!descriptor.is_open() && errno == EEXIST);
        next = std::exchange(newest, this);
        if (next != nullptr) next->previous = this;
    }
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;
    ~UnfinishedFile() {
        const ListLock lock;
        (previous != nullptr ? previous->next : newest) = next;
        if (next != nullptr) next->previous = previous;
        remove();
    }

    /// False (with errno) if that fails.
    bool rename_to(const fs::path& place) {
        renamed = std::rename(path.c_str(), place.c_str()) == 0;
        return renamed;
    }
    void remove() const noexcept {
        if (descriptor.is_open() && !renamed) ::unlink(path.c_str());
    }

    fs::path path;
    FileDescriptor descriptor;
    bool renamed = false;
    UnfinishedFile *next = nullptr, *previous = nullptr;
};

/// A stream buffer over a descriptor. Unlike std::filebuf it keeps the reason of the first failure.
class DescriptorBuffer : public std::streambuf {
  public:
    explicit DescriptorBuffer(int number) : number_(number) {
        setp(buffer_.data(), buffer_.data() + buffer_.size());
    }
    int error() const { return error_; }

  protected:
    int_type overflow(int_type c) override {
        if (!flush()) return traits_type::eof();
        if (!traits_type::eq_int_type(c, traits_type::eof())) {
            *pptr() = traits_type::to_char_type(c);
            pbump(1);
        }
        return traits_type::not_eof(c);
    }
    std::streamsize xsputn(const char* data, std::streamsize size) override {
        if (size < epptr() - pptr()) return std::streambuf::xsputn(data, size);
        return flush() && put(data, static_cast<std::size_t>(size)) ? size : 0;
    }
    int sync() override { return flush() ? 0 : -1; }

  private:
    bool flush() {
        const bool done = put(pbase(), static_cast<std::size_t>(pptr() - pbase()));
        setp(buffer_.data(), buffer_.data() + buffer_.size());
        return done;
    }
    bool put(const char* data, std::size_t size) {
        if (error_ == 0) error_ = write_all(number_, {data, size});
        return error_ == 0;
    }

    int number_;
    int error_ = 0;
    std::array<char, 1 << 16> buffer_;
};

const char* expectation(int error) {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
            return "expected a name in an existing folder";
        case EISDIR:
            return "expected a file, not a folder";
        case ENOSPC:
        case EDQUOT:
            return "expected enough free space";
        case EACCES:
        case EPERM:
        case EROFS:
            return "expected permission to write there";
        case EPIPE:
            return "expected a reader at the other end";
        default:
            return "expected a place that can be written";
    }
}

[[noreturn]] void fail(const fs::path& file, int error) {
    if (error == ECANCELED) throw Interrupted();
    throw DataError(file.string() + ": cannot be written: " + std::strerror(error) + "; " +
                    expectation(error));
}

void fill(const fs::path& file, const FileDescriptor& descriptor,
          const std::function<void(std::ostream&)>& write) {
    DescriptorBuffer buffer(descriptor.number());
    std::ostream stream(&buffer);
    write(stream);
    stream.flush();
    if (buffer.error() != 0) fail(file, buffer.error());
    if (!stream) fail(file, EIO);
}

/// Writes a file that is not a regular file directly.
void write_straight(const fs::path& file, FileDescriptor descriptor,
                    const std::function<void(std::ostream&)>& write) {
    if (!descriptor.is_open()) fail(file, errno);
    fill(file, descriptor, write);
    if (!descriptor.close()) fail(file, errno);
}

/// The descriptor that this name denotes. Opening such a name anew would begin at the front of a
/// redirected file and overwrite what is already there.
std::optional<int> descriptor_called(const fs::path& file) {
    if (file == "/dev/stdout") return STDOUT_FILENO;
    if (file == "/dev/stderr") return STDERR_FILENO;
    const fs::path folder = file.parent_path();
    const std::string number = file.filename().string();
    const bool own = folder == "/dev/fd" || folder == "/proc/self/fd" ||
                     folder == "/proc/" + std::to_string(::getpid()) + "/fd";
    if (!own || number.empty() || number.size() > 6 ||
        number.find_first_not_of("0123456789") != std::string::npos)
        return std::nullopt;
    return std::stoi(number);
}

/// `file` with its folder resolved.
fs::path in_true_folder(const fs::path& file) {
    std::error_code none;
    const fs::path folder = fs::weakly_canonical(file.has_parent_path() ? file.parent_path() : ".", none);
    return folder.empty() ? file : folder / file.filename();
}

/// Waits until the content is on the disk, so that it survives a power failure. False (with errno) if the
/// disk failed; files that cannot be synchronized are left to the system.
bool synchronize(const FileDescriptor& file) {
    return ::fsync(file.number()) == 0 || (errno != EIO && errno != ENOSPC && errno != EDQUOT);
}

/// Fills a new file and renames it to `place`, which is what `file` is in messages. `old` may be null.
void put_in_place(const fs::path& file, const fs::path& place, const struct stat* old, bool lasting,
                  const std::function<void(std::ostream&)>& write) {
    UnfinishedFile unfinished(place, old != nullptr ? 0600 : 0666);
    if (!unfinished.descriptor.is_open()) fail(file, errno);
    // Not the setuid and setgid bits, which were not granted to the new content.
    if (old != nullptr && ::fchmod(unfinished.descriptor.number(), old->st_mode & 0777) != 0)
        fail(file, errno);
    fill(file, unfinished.descriptor, write);
    if (lasting && !synchronize(unfinished.descriptor)) fail(file, errno);
    if (!unfinished.rename_to(place)) fail(file, errno);
    if (!lasting) return;
    const fs::path folder = place.has_parent_path() ? place.parent_path() : ".";
    const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.is_open() && !synchronize(opened)) fail(file, errno);
}

}  // namespace

std::optional<int> named_descriptor(const fs::path& file) {
    const fs::path end = follow_links(file);
    if (const std::optional<int> number = descriptor_called(end)) return number;
    return descriptor_called(in_true_folder(end));
}

fs::path follow_links(fs::path file) {
    constexpr int max_links = 40;  // as the kernel allows
    std::error_code none;
    for (int i = 0; i < max_links && fs::is_symlink(fs::symlink_status(file, none)); ++i) {
        if (descriptor_called(file) || descriptor_called(in_true_folder(file))) break;
        file = file.parent_path() / fs::read_symlink(file, none);
    }
    return file;
}

void write_file_atomically(const fs::path& file, const std::function<void(std::ostream&)>& write) {
    struct stat status = {};
    const bool exists = ::stat(file.c_str(), &status) == 0;
    if (!exists && errno != ENOENT) fail(file, errno);
    if (const std::optional<int> number = named_descriptor(file))
        return write_straight(file, FileDescriptor(::dup(*number)), write);
    if (exists && !S_ISREG(status.st_mode))
        return write_straight(file, FileDescriptor(open_for_writing(file.c_str())), write);
    // Renaming needs no permission on the file itself; a write-protected file still stays as it is.
    if (exists && ::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) != 0) fail(file, errno);

    const fs::path place = follow_links(file);
    if (place.filename().empty()) fail(file, file.empty() ? ENOENT : EISDIR);
    put_in_place(file, place, exists ? &status : nullptr, true, write);
}

void replace_file(const fs::path& file, const std::function<void(std::ostream&)>& write) {
    put_in_place(file, file, nullptr, false, write);
}

void remove_unfinished_files() noexcept {
    const ListLock lock;
    for (const UnfinishedFile* file = newest; file != nullptr; file = file->next)
        file->remove();
}

}  // namespace knn
