// A library for LD_PRELOAD that makes one call of the program fail. The environment steers it:
//
//     MNIST_KNN_FAULT_CALL    one of call_names (report.h)
//     MNIST_KNN_FAULT_AT      which call of it fails, from 1; 0: none, the calls are counted
//     MNIST_KNN_FAULT_KIND    EIO, ENOSPC, EINTR, EMFILE, ENOMEM, or short: half of the bytes are transferred
//     MNIST_KNN_FAULT_FOLDER  calls count on files below it, on relative names and on standard output
//     MNIST_KNN_FAULT_REPORT  the file that holds a FaultReport
//
// Calls count from the beginning of main to its end: what fails before is no code of the program. The functions go to the
// kernel or to glibc's own names, so that nothing here calls what it replaces.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/faults/report.h"

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

using knn::test::Call;
using knn::test::FaultReport;

constexpr int short_count = -1;  ///< a kind that is no errno

struct Fault {
    Call call = Call::count;
    std::uint64_t at = 0;
    int kind = 0;
    std::string_view folder;
};

Fault fault;
FaultReport* report = nullptr;  // null outside of main
int (*program_main)(int, char**, char**) = nullptr;

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

int kind_called(std::string_view name) {
    constexpr std::pair<std::string_view, int> kinds[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC},
                                                          {"EINTR", EINTR},   {"EMFILE", EMFILE},
                                                          {"ENOMEM", ENOMEM}, {"short", short_count}};
    for (const auto& [known, kind] : kinds)
        if (known == name) return kind;
    std::abort();
}

void read_environment() {
    if (variable("MNIST_KNN_FAULT_REPORT").empty()) return;
    const auto* call = std::find(knn::test::call_names.begin(), knn::test::call_names.end(),
                                 variable("MNIST_KNN_FAULT_CALL"));
    fault.call = static_cast<Call>(call - knn::test::call_names.begin());
    fault.at = std::strtoull(variable("MNIST_KNN_FAULT_AT").data(), nullptr, 10);
    fault.kind = kind_called(variable("MNIST_KNN_FAULT_KIND"));
    fault.folder = variable("MNIST_KNN_FAULT_FOLDER");
    const long file =
        ::syscall(SYS_openat, AT_FDCWD, variable("MNIST_KNN_FAULT_REPORT").data(), O_RDWR | O_CLOEXEC);
    if (file < 0) std::abort();
    const long place =
        ::syscall(SYS_mmap, nullptr, sizeof(FaultReport), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::syscall(SYS_close, file);
    if (place == -1) std::abort();
    report = reinterpret_cast<FaultReport*>(place);
}

/// Counts the call; the errno or kind that it fails with, 0 for none.
int failure(Call call) {
    const std::uint64_t number = ++std::atomic_ref(report->calls[static_cast<std::size_t>(call)]);
    if (call != fault.call || number != fault.at) return 0;
    ++std::atomic_ref(report->failed);
    return fault.kind;
}

int failure_of_path(Call call, const char* path) {
    const bool counts = path[0] != '/' || std::string_view(path).starts_with(fault.folder);
    return report != nullptr && counts ? failure(call) : 0;
}

int failure_of_descriptor(Call call, int descriptor) {
    if (report == nullptr || descriptor < 0) return 0;
    if (descriptor == STDOUT_FILENO && call == Call::write) return failure(call);
    char link[64], target[4096];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const long size = ::syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target);
    if (size <= 0 || !std::string_view(target, static_cast<std::size_t>(size)).starts_with(fault.folder))
        return 0;
    return failure(call);
}

/// What a system call returns that failed so.
template <class T = int>
T failed_with(int kind) {
    errno = kind;
    return static_cast<T>(-1);
}

int open_at(int folder, const char* path, int flags, mode_t mode) {
    if (const int kind = failure_of_path(Call::open, path)) return failed_with(kind);
    return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}

mode_t mode_of(int flags, va_list arguments) {
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

/// The bytes that a transfer is asked for, given its kind of failure.
std::size_t asked(int kind, std::size_t size) {
    return kind == short_count && size > 1 ? size / 2 : size;
}

std::FILE* open_stream(const char* function, const char* path, const char* mode) {
    if (const int kind = failure_of_path(Call::open, path)) {
        errno = kind;
        return nullptr;
    }
    const auto next =
        reinterpret_cast<std::FILE* (*)(const char*, const char*)>(::dlsym(RTLD_NEXT, function));
    return next(path, mode);
}

bool allocation_fails() {
    if (report == nullptr || failure(Call::allocate) == 0) return false;
    errno = ENOMEM;
    return true;
}

int counted_main(int count, char** words, char** environment) {
    read_environment();
    const int code = program_main(count, words, environment);
    report = nullptr;
    return code;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int count, char** words, void (*init)(),
                      void (*fini)(), void (*linker_fini)(), void* stack_end) {
    program_main = main;
    const auto next = reinterpret_cast<decltype(&__libc_start_main)>(::dlsym(RTLD_NEXT, "__libc_start_main"));
    return next(counted_main, count, words, init, fini, linker_fini, stack_end);
}

int open(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_at(folder, path, flags, mode);
}

int open64(const char* path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));

std::FILE* fopen(const char* path, const char* mode) {
    return open_stream("fopen", path, mode);
}
std::FILE* fopen64(const char* path, const char* mode) {
    return open_stream("fopen64", path, mode);
}

ssize_t read(int descriptor, void* out, std::size_t size) {
    const int kind = failure_of_descriptor(Call::read, descriptor);
    if (kind > 0) return failed_with<ssize_t>(kind);
    return ::syscall(SYS_read, descriptor, out, asked(kind, size));
}

ssize_t write(int descriptor, const void* bytes, std::size_t size) {
    const int kind = failure_of_descriptor(Call::write, descriptor);
    if (kind > 0) return failed_with<ssize_t>(kind);
    return ::syscall(SYS_write, descriptor, bytes, asked(kind, size));
}

int fsync(int descriptor) {
    if (const int kind = failure_of_descriptor(Call::fsync, descriptor)) return failed_with(kind);
    return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

int rename(const char* from, const char* to) {
    if (const int kind = failure_of_path(Call::rename, to)) return failed_with(kind);
    return static_cast<int>(::syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}

/// The descriptor is closed in any case, as on Linux.
int close(int descriptor) {
    const int kind = failure_of_descriptor(Call::close, descriptor);
    const int result = static_cast<int>(::syscall(SYS_close, descriptor));
    return kind != 0 ? failed_with(kind) : result;
}

void* mmap(void* place, std::size_t size, int protection, int flags, int descriptor, off_t offset) noexcept {
    if (const int kind = failure_of_descriptor(Call::mmap, descriptor)) {
        errno = kind;
        return MAP_FAILED;
    }
    return reinterpret_cast<void*>(::syscall(SYS_mmap, place, size, protection, flags, descriptor, offset));
}

void* mmap64(void*, std::size_t, int, int, int, off64_t) noexcept __attribute__((alias("mmap")));

int ftruncate(int descriptor, off_t size) noexcept {
    if (const int kind = failure_of_descriptor(Call::ftruncate, descriptor)) return failed_with(kind);
    return static_cast<int>(::syscall(SYS_ftruncate, descriptor, size));
}

int ftruncate64(int, off64_t) noexcept __attribute__((alias("ftruncate")));

int mkdir(const char* path, mode_t mode) noexcept {
    if (const int kind = failure_of_path(Call::mkdir, path)) return failed_with(kind);
    return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

void* malloc(std::size_t size) noexcept {
    return allocation_fails() ? nullptr : __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    return allocation_fails() ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) noexcept {
    return allocation_fails() ? nullptr : __libc_realloc(old, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return allocation_fails() ? nullptr : __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return memalign(alignment, size);
}

int posix_memalign(void** place, std::size_t alignment, std::size_t size) noexcept {
    void* bytes = memalign(alignment, size);
    if (bytes == nullptr) return ENOMEM;
    *place = bytes;
    return 0;
}

}  // extern "C"
