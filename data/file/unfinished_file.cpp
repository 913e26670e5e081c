#include "data/file/unfinished_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace knn {

namespace {

namespace fs = std::filesystem;

constexpr const char *prefix = ".mnist-knn-", *suffix = ".tmp";

/// Whether it is .mnist-knn-NUMBER-NUMBER.tmp, as the constructor names files.
bool is_unfinished(const std::string& name) {
    constexpr std::string_view digits = "0123456789", begin = prefix, end = suffix;
    if (!name.starts_with(begin) || !name.ends_with(end) || name.size() < begin.size() + end.size())
        return false;
    const std::string numbers = name.substr(begin.size(), name.size() - begin.size() - end.size());
    const std::size_t dash = numbers.find_first_not_of(digits);
    return dash != std::string::npos && dash > 0 && dash + 1 < numbers.size() && numbers[dash] == '-' &&
           numbers.find_first_not_of(digits, dash + 1) == std::string::npos;
}

/// A lock, not the process number, tells who lives: machines and containers that share the folder may use the
/// same numbers.
void remove_abandoned(const fs::path& folder) {
    // Not fs::directory_iterator, which ends the process where memory is short.
    const std::unique_ptr<DIR, int (*)(DIR*)> names(::opendir(folder.c_str()), ::closedir);
    while (const dirent* entry = names != nullptr ? ::readdir(names.get()) : nullptr) {
        if (!is_unfinished(entry->d_name)) continue;
        const fs::path place = folder / entry->d_name;
        const char* path = place.c_str();
        const FileDescriptor file(::open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
        struct stat status = {}, named = {};
        if (file.is_open() && ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) &&
            status.st_uid == ::geteuid() && ::flock(file.number(), LOCK_EX | LOCK_NB) == 0 &&
            ::lstat(path, &named) == 0 && named.st_dev == status.st_dev && named.st_ino == status.st_ino)
            ::unlink(path);
    }
}

/// False if another run removed the file as abandoned before it was locked. A file system without locks is
/// accepted.
bool lock(const FileDescriptor& file) {
    struct stat status = {};
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
    return ::fstat(file.number(), &status) != 0 || status.st_nlink > 0;
}

/// All of this process, the newest first, linked through `next_`.
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

}  // namespace

UnfinishedFile::UnfinishedFile(fs::path place, mode_t mode) : place_(std::move(place)) {
    static std::atomic<unsigned> counter = 0;
    const fs::path folder = place_.has_parent_path() ? place_.parent_path() : ".";
    remove_abandoned(folder);
    const ListLock lock_list;  // no signal between the file and its place in the list
    do {
        path_ = folder / (prefix + std::to_string(::getpid()) + "-" + std::to_string(counter++) + suffix);
        descriptor = FileDescriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    } while (descriptor.is_open() ? !lock(descriptor) : errno == EEXIST);
    next_ = std::exchange(newest, this);
    if (next_ != nullptr) next_->previous_ = this;
}

UnfinishedFile::~UnfinishedFile() {
    const ListLock lock_list;
    (previous_ != nullptr ? previous_->next_ : newest) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
    if (descriptor.is_open() && !renamed_) ::unlink(path_.c_str());
}

bool UnfinishedFile::rename_to_place() {
    renamed_ = std::rename(path_.c_str(), place_.c_str()) == 0;
    return renamed_;
}

void remove_unfinished_files() noexcept {
    const ListLock lock_list;
    for (const UnfinishedFile* file = newest; file != nullptr; file = file->next_)
        if (file->descriptor.is_open() && !file->renamed_) ::unlink(file->path_.c_str());
}

}  // namespace knn
