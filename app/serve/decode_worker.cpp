#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "app/serve/decoder.h"
#include "app/serve/digit_message.h"
#include "data/core/errors.h"
#include "data/picture/picture_file.h"
#include "data/picture/picture_module.h"

namespace knn::web {

namespace {

/// Of a picture of the largest size, and of what finding its digits needs.
constexpr std::int64_t decoding_bytes =
    max_picture_pixels * decoding_bytes_per_pixel + (std::int64_t{1} << 30);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool has_sanitizer = true;  // takes more addresses and calls than can be listed
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool has_sanitizer = true;
#else
constexpr bool has_sanitizer = false;
#endif
#else
constexpr bool has_sanitizer = false;
#endif

/// `margin`: how far the hard limit is above the soft one.
void limit(__rlimit_resource_t resource, std::int64_t value, std::int64_t margin = 0) {
    const struct rlimit both = {static_cast<rlim_t>(value), static_cast<rlim_t>(value + margin)};
    ::setrlimit(resource, &both);
}

/// Addresses that this process has now.
std::int64_t address_bytes() {
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * ::sysconf(_SC_PAGESIZE);
}

/// Only memory and open descriptors from here on; any other system call fails with EPERM. Without effect where the kernel has
/// no seccomp.
void forbid_system_calls() {
#if defined(__x86_64__) || defined(__aarch64__)
#if defined(__x86_64__)
    constexpr std::uint32_t machine = AUDIT_ARCH_X86_64;
#else
    constexpr std::uint32_t machine = AUDIT_ARCH_AARCH64;
#endif
    constexpr long allowed[] = {SYS_read,
                                SYS_write,
                                SYS_recvfrom,
                                SYS_sendto,
                                SYS_close,
                                SYS_mmap,
                                SYS_munmap,
                                SYS_mremap,
                                SYS_mprotect,
                                SYS_madvise,
                                SYS_brk,
                                SYS_futex,
                                SYS_rt_sigreturn,
                                SYS_rt_sigprocmask,
                                SYS_clock_gettime,
                                SYS_gettimeofday,
                                SYS_getrandom,
                                SYS_sched_yield,
                                SYS_getpid,
                                SYS_gettid,
                                SYS_restart_syscall,
                                SYS_exit,
                                SYS_exit_group};
    constexpr std::size_t count = std::size(allowed);
    sock_filter program[2 * count + 5] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
    };
    sock_filter* next = program + 4;
    for (const long call : allowed) {
        *next++ = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
        *next++ = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    *next++ = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    const sock_fprog filter = {static_cast<unsigned short>(next - program), program};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
#endif
}

void restrict_process() {
    ::signal(SIGALRM, SIG_DFL);
    ::signal(SIGXCPU, SIG_DFL);
    ::alarm(static_cast<unsigned>(max_decoding_time.count()));  // ends the process
    limit(RLIMIT_CPU, max_decoding_work.count(), 1);            // SIGXCPU, then SIGKILL
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    if (has_sanitizer) return;
    limit(RLIMIT_AS, address_bytes() + decoding_bytes);
    limit(RLIMIT_NOFILE, 3);
    forbid_system_calls();
}

/// Ends the process if the server is gone.
void receive(char* bytes, std::size_t size) {
    while (size > 0) {
        const ssize_t got = ::recv(STDIN_FILENO, bytes, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) ::_exit(1);
        bytes += got;
        size -= static_cast<std::size_t>(got);
    }
}

void send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(STDIN_FILENO, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) ::_exit(1);
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

void send(Outcome outcome, const std::string& content) {
    AnswerFrame answer;
    answer.outcome = outcome;
    answer.size = content.size();
    send({reinterpret_cast<const char*>(&answer), sizeof answer});
    send(content);
}

/// What begins the errors of decode_picture, and is removed again.
const std::string picture_name = "-";

FoundDigits found_in(const std::string& bytes, bool many) {
    const Picture picture =
        decode_picture({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, picture_name);
    FoundDigits found{picture.rows, picture.cols, {}};
    if (many)
        found.digits = extract_digits(picture);
    else
        found.digits.push_back(extract_digit(picture));
    return found;
}

/// In the copy: one picture. no_codecs: why none can be read; empty: they can.
void answer_one(const std::string& no_codecs) {
    PictureFrame frame;
    receive(reinterpret_cast<char*>(&frame), sizeof frame);
    std::string content;
    Outcome outcome = Outcome::found;
    try {
        content.resize(frame.size);
        receive(content.data(), content.size());
        if (no_codecs.empty()) {
            content = message_of(found_in(content, frame.many != 0));
        } else {
            content = no_codecs;
            outcome = Outcome::no_codecs;
        }
    } catch (const DataError& error) {
        content = error.what();
        if (content.starts_with(picture_name + ": ")) content.erase(0, picture_name.size() + 2);
        outcome = Outcome::refused;
    } catch (const std::bad_alloc&) {
        content = "needs more memory than a picture may; expected a smaller one";
        outcome = Outcome::refused;
    }
    send(outcome, content);
}

/// What a copy that was ended had no time to say; empty: it was no limit of time that ended it.
std::string why_ended(int status) {
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal == SIGXCPU)
        return "took more than " + std::to_string(max_decoding_work.count()) +
               " seconds of processor time; expected a smaller picture, or one with less in it";
    if (signal == SIGALRM)
        return "took more than " + std::to_string(max_decoding_time.count()) +
               " seconds, as this machine is busy; expected a smaller picture, or another request later";
    return "";
}

/// Until the copy ends, or the server does, which ends the copy too. Returns the status of waitpid.
int status_of(pid_t copy) {
    const int its_end =
        int(::syscall(SYS_pidfd_open, copy, 0));  // -1 before Linux 5.3: only the copy is waited for
    pollfd ends[] = {{its_end, POLLIN, 0}, {STDIN_FILENO, POLLRDHUP, 0}};
    while (its_end >= 0 && ::poll(ends, 2, -1) < 0 && errno == EINTR) {
    }
    if (ends[1].revents != 0) ::kill(copy, SIGKILL);
    if (its_end >= 0) ::close(its_end);
    int status = 0;
    while (::waitpid(copy, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/// Closes what the server had open: clients would wait for the end of their connections, and new ones would be accepted by
/// nobody, as long as this process has the sockets too.
void close_inherited() {
    std::vector<int> numbers;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        numbers.push_back(std::stoi(entry.path().filename()));
    for (const int number : numbers)
        if (number > STDERR_FILENO) ::close(number);
}

/// Loads the codecs, and makes them do what they do once: the copies may open no file. Returns why they cannot be loaded; empty: they are.
std::string warm_up() {
    limit_codecs();
    try {
        picture_module();
    } catch (const DataError& error) {
        return error.what();
    }
    std::string picture = "P5 40 40 255\n" + std::string(40 * 40, '\xff');
    for (std::size_t y = 8; y < 32; ++y)
        picture.replace(y * 40 + 13 + 18, 4, 4, '\0');
    try {
        found_in(picture, false);
        found_in(picture, true);
    } catch (const DataError&) {  // said again for each picture
    }
    return "";
}

}  // namespace

int decode_worker() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        ::signal(signal, SIG_IGN);  // it ends with the server, which finishes what runs
    close_inherited();
    std::ofstream("/proc/self/oom_score_adj") << 1000;  // where memory is short, it goes first
    const std::string no_codecs = warm_up();
    char byte = 0;
    while (::recv(STDIN_FILENO, &byte, 1, MSG_PEEK) == 1) {
        const pid_t copy = ::fork();
        if (copy < 0) return 1;
        if (copy == 0) {
            restrict_process();
            answer_one(no_codecs);
            ::_exit(0);
        }
        const int status = status_of(copy);
        if (const std::string why = why_ended(status); !why.empty())
            send(Outcome::refused, why);
        else if (status != 0)
            return 1;  // the server reads the end, and starts another
    }
    return 0;
}

}  // namespace knn::web
