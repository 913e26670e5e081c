#include "data/file/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <ostream>
#include <set>
#include <streambuf>

#include "data/core/errors.h"
#include "data/core/format.h"

namespace knn {

namespace fs = std::filesystem;

/// Writes to a descriptor at once: writers hand over large pieces. Keeps the reason of the first failure.
class DescriptorBuffer : public std::streambuf {
  public:
    explicit DescriptorBuffer(int number) : number_(number) {}
    int error() const { return error_; }

  protected:
    std::streamsize xsputn(const char* data, std::streamsize size) override {
        if (error_ == 0) error_ = write_all(number_, {data, static_cast<std::size_t>(size)});
        return error_ == 0 ? size : 0;
    }
    int_type overflow(int_type c) override {
        const char letter = traits_type::to_char_type(c);
        return xsputn(&letter, 1) == 1 ? c : traits_type::eof();
    }

  private:
    int number_, error_ = 0;
};

namespace {

constexpr const char* standard_output = "standard output";
constexpr int max_links = 40;  // as the kernel allows

const char* expectation(int error) {
    static constexpr std::pair<int, const char*> expectations[] = {
        {ENOENT, "a name in an existing folder"},
        {ENOTDIR, "a name in an existing folder"},
        {EISDIR, "a file, not a folder"},
        {ENOSPC, "enough free space"},
        {EDQUOT, "enough free space"},
        {EFBIG, "a size within the limits of the file system and of ulimit -f"},
        {ENAMETOOLONG, "a shorter name"},
        {EMFILE, more_files},
        {ELOOP, "a link that leads to a file or folder"},
        {EACCES, "permission to write there"},
        {EPERM, "permission to write there"},
        {EROFS, "permission to write there"},
        {EPIPE, "a reader at the other end"}};
    const auto* const found = std::ranges::find(expectations, error, &std::pair<int, const char*>::first);
    return found != std::end(expectations) ? found->second : "a place that can be written";
}

/// The temporary files that are there.
std::mutex unfinished_mutex;
std::set<fs::path> unfinished;

/// A new file beside `place`, whose name it gets.
FileDescriptor open_beside(const fs::path& place, mode_t mode, fs::path& name) {
    static std::atomic<unsigned> counter = 0;
    FileDescriptor file;
    do {
        name = place.parent_path() /
               (".mnist-knn-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp");
        file = FileDescriptor(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    } while (!file.is_open() && errno == EEXIST);
    return file;
}

}  // namespace

void fail_to_write(const std::string& file, int error) {
    if (error == ECANCELED) throw Interrupted();
    throw DataError(file + ": cannot be written: " + std::strerror(error) + "; expected " +
                    expectation(error));
}

fs::path follow_links(fs::path file) {
    std::error_code none;
    for (int i = 0; i < max_links && fs::is_symlink(fs::symlink_status(file, none)); ++i)
        file = file.parent_path() / fs::read_symlink(file, none);
    return file;
}

int descriptor_of(const std::string& file) {
    if (file == "-" || file == "/dev/stdout") return STDOUT_FILENO;
    std::error_code none;
    const fs::path descriptors = fs::canonical("/proc/self/fd", none);
    fs::path name = file;
    for (int i = 0; i < max_links && fs::is_symlink(fs::symlink_status(name, none)); ++i) {
        const fs::path folder = name.has_parent_path() ? name.parent_path() : ".";
        if (!descriptors.empty() && fs::canonical(folder, none) == descriptors)
            return number_of<int>(name.filename().string()).value_or(-1);
        name = folder / fs::read_symlink(name, none);
    }
    return -1;
}

AtomicFile::AtomicFile(const std::string& file, bool lasting)
    : file_(is_standard_output(file) ? standard_output : file), lasting_(lasting) {
    struct stat old = {};
    const bool exists = lasting && ::stat(file.c_str(), &old) == 0;
    if (lasting && !exists && errno == ELOOP) fail_to_write(file_, ELOOP);
    if (const int number = lasting ? descriptor_of(file) : -1; number >= 0) {
        descriptor_ = FileDescriptor(::dup(number));
    } else if (exists && !S_ISREG(old.st_mode)) {
        descriptor_ = FileDescriptor(open_for_writing(file.c_str()));
    } else {
        // Renaming needs no permission on the file itself; a write-protected file still stays as it is.
        if (exists && !FileDescriptor(::open(file.c_str(), O_WRONLY | O_CLOEXEC)).is_open())
            fail_to_write(file_, errno);
        place_ = lasting ? follow_links(file) : fs::path(file);
        if (place_.filename().empty()) fail_to_write(file_, file.empty() ? ENOENT : EISDIR);
        const std::lock_guard lock(unfinished_mutex);  // until it is known to `remove_unfinished_files`
        descriptor_ = open_beside(place_, 0666, temporary_.name);
        if (descriptor_.is_open()) unfinished.insert(temporary_.name);
        if (exists && descriptor_.is_open()) {
            // Who may not give it to its group lets that of the new file do nothing.
            const bool has_group = ::fchown(descriptor_.number(), old.st_uid, old.st_gid) == 0 ||
                                   ::fchown(descriptor_.number(), uid_t(-1), old.st_gid) == 0;
            if (::fchmod(descriptor_.number(), old.st_mode & (has_group ? 0777 : 0707)) != 0)
                fail_to_write(file_, errno);
        }
    }
    if (!descriptor_.is_open()) fail_to_write(file_, errno);
    buffer_ = std::make_unique<DescriptorBuffer>(descriptor_.number());
    stream_ = std::make_unique<std::ostream>(buffer_.get());
}

AtomicFile::~AtomicFile() = default;

AtomicFile::Temporary::~Temporary() {
    if (name.empty()) return;
    ::unlink(name.c_str());
    const std::lock_guard lock(unfinished_mutex);
    unfinished.erase(name);
}

void AtomicFile::check() const {
    const int error = buffer_->error();
    if (error == EPIPE && place_.empty() && file_ == standard_output) return;
    if (error != 0) fail_to_write(file_, error);
    if (!stream_->good()) fail_to_write(file_, EIO);
}

void AtomicFile::finish() {
    stream_->flush();
    check();
    if (!temporary_.name.empty() && lasting_ && ::fsync(descriptor_.number()) != 0 && errno != EINVAL)
        fail_to_write(file_, errno);
    if (!descriptor_.close()) fail_to_write(file_, errno);
}

void AtomicFile::put_in_place() {
    if (temporary_.name.empty()) return;
    if (std::rename(temporary_.name.c_str(), place_.c_str()) != 0) fail_to_write(file_, errno);
    const std::lock_guard lock(unfinished_mutex);
    unfinished.erase(temporary_.name);
    temporary_.name.clear();
}

void remove_unfinished_files() noexcept {
    unfinished_mutex.lock();  // for good: no other thread begins another
    for (const fs::path& file : unfinished)
        ::unlink(file.c_str());
}

void write_file_atomically(const std::string& file, const std::function<void(std::ostream&)>& write,
                           bool lasting) {
    AtomicFile atomic(file, lasting);
    write(atomic.stream());
    atomic.finish();
    atomic.put_in_place();
}

}  // namespace knn
