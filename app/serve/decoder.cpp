#include "app/serve/decoder.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

extern char** environ;

namespace knn::web {

namespace {

/// Until when, and for whom, a picture is decoded.
struct Deadline {
    std::chrono::steady_clock::time_point last;
    const Abandoned& abandoned;
};

/// Waits a while. False if the other side is gone, the time is over, or nobody waits for the answer.
bool wait_for(int socket, short events, const Deadline& deadline) {
    constexpr int look_ms = 50;
    pollfd watched{socket, events, 0};
    return std::chrono::steady_clock::now() < deadline.last && !is_set(deadline.abandoned) &&
           (::poll(&watched, 1, look_ms) >= 0 || errno == EINTR);
}

bool send_all(int socket, std::string_view bytes, const Deadline& deadline) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
        if (sent > 0 || errno == EINTR) continue;
        if (errno != EAGAIN || !wait_for(socket, POLLOUT, deadline)) return false;
    }
    return true;
}

bool receive_all(int socket, char* bytes, std::size_t size, const Deadline& deadline) {
    while (size > 0) {
        const ssize_t got = ::recv(socket, bytes, size, MSG_DONTWAIT);
        if (got == 0) return false;
        if (got > 0) {
            bytes += got;
            size -= static_cast<std::size_t>(got);
        } else if (errno != EINTR && (errno != EAGAIN || !wait_for(socket, POLLIN, deadline))) {
            return false;
        }
    }
    return true;
}

}  // namespace

void Decoder::start() {
    char byte = 0;
    // It sends nothing by itself: this is its end, where the system has ended it to get memory.
    if (process_ > 0 && (::recv(socket_.number(), &byte, 1, MSG_DONTWAIT) >= 0 || errno == ECONNRESET))
        stop();
    if (process_ > 0) return;
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw DataError(std::string("the picture decoder has no socket: ") + std::strerror(errno) +
                        "; expected " + more_files);
    FileDescriptor own(ends[0]);
    const FileDescriptor its(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, its.number(), STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawnattr_init(&attributes);
    // A group of its own: Ctrl-C does not end it, and with it all its copies can be ended.
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::string program = "mnist-knn", mode(decode_worker_mode);
    std::array<char*, 3> words = {program.data(), mode.data(), nullptr};
    const int error =
        ::posix_spawn(&process_, "/proc/self/exe", &actions, &attributes, words.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        process_ = -1;
        throw DataError(std::string("the picture decoder cannot be started: ") + std::strerror(error) +
                        "; expected enough memory and processes (ulimit -u)");
    }
    socket_ = std::move(own);
}

void Decoder::stop() {
    if (process_ <= 0) return;
    socket_.close();
    ::kill(-process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
}

FoundDigits Decoder::read(std::string_view picture, bool many, const Abandoned& abandoned) {
    start();
    // The process keeps the time itself, unless it cannot.
    const Deadline deadline{std::chrono::steady_clock::now() + max_decoding_time + std::chrono::seconds(2),
                            abandoned};
    const PictureFrame frame{picture.size(), many ? 1u : 0u};
    AnswerFrame answer;
    std::string content;
    const int socket = socket_.number();
    bool done = send_all(socket, {reinterpret_cast<const char*>(&frame), sizeof frame}, deadline) &&
                send_all(socket, picture, deadline) &&
                receive_all(socket, reinterpret_cast<char*>(&answer), sizeof answer, deadline) &&
                answer.size <= max_answer_bytes;
    if (done) {
        content.resize(answer.size);
        done = receive_all(socket, content.data(), content.size(), deadline);
    }
    if (!done) {
        stop();
        throw_if(abandoned);
        throw DataError(
            "crashed the picture decoder, or needs more memory than it may; expected an undamaged "
            "picture");
    }
    if (answer.outcome == Outcome::no_codecs) throw NoCodecs(content);
    if (answer.outcome != Outcome::found) throw DataError(content);
    try {
        return read_message(content);
    } catch (const DataError&) {
        stop();
        throw;
    }
}

}  // namespace knn::web
