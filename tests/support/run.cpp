#include "tests/support/run.h"

#include "tests/support/test.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace knn::test {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Both ends of a pipe; neither outlives an exec.
std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    return ends;
}

/// In the child: becomes the program.
[[noreturn]] void become(const std::vector<std::string>& words, const RunOptions& options) {
    std::vector<char*> arguments;
    for (const std::string& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    for (const auto& [name, value] : options.environment)
        ::setenv(name.c_str(), value.c_str(), 1);
    if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(126);
    if (options.close_stdout) ::close(STDOUT_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
}

struct Child {
    pid_t id = -1;
    int out = -1, err = -1;  ///< reading ends; -1: none
};

Child start_on_terminal(const std::vector<std::string>& words, const RunOptions& options) {
    Child child;
    const winsize size{40, 100, 0, 0};
    child.id = ::forkpty(&child.out, nullptr, nullptr, &size);
    if (child.id < 0) throw std::runtime_error("forkpty failed");
    if (child.id == 0) become(words, options);
    return child;
}

Child start_on_pipes(const std::vector<std::string>& words, const RunOptions& options) {
    const std::array<int, 2> out = make_pipe(), err = make_pipe();
    if (options.nonblocking_stdout) ::fcntl(out[1], F_SETFL, O_NONBLOCK);
    Child child{::fork(), out[0], err[0]};
    if (child.id < 0) throw std::runtime_error("fork failed");
    if (child.id == 0) {
        const int nothing = ::open("/dev/null", O_RDONLY);
        const bool to_file = !options.stdout_file.empty();
        const int target = to_file ? ::open(options.stdout_file.c_str(), O_WRONLY | O_CREAT, 0666) : out[1];
        if (options.broken_stdout) ::close(out[0]);
        ::dup2(nothing, STDIN_FILENO);
        ::dup2(target, STDOUT_FILENO);
        ::dup2(err[1], STDERR_FILENO);
        become(words, options);
    }
    ::close(out[1]);
    ::close(err[1]);
    if (options.broken_stdout) ::close(std::exchange(child.out, -1));
    return child;
}

std::string& last() {
    static std::string text;
    return text;
}

/// Moves what is there from the descriptor to the text; closes it at its end.
void drain(int& descriptor, std::string& text) {
    std::array<char, 1 << 16> buffer;
    const ssize_t size = ::read(descriptor, buffer.data(), buffer.size());
    if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
    if (size > 0 || (size < 0 && errno == EINTR)) return;
    ::close(std::exchange(descriptor, -1));  // the end, or EIO: a terminal whose other side is closed
}

}  // namespace

std::string last_run() {
    return last();
}

RunResult run(const std::vector<std::string>& words, const RunOptions& options) {
    RunResult result;
    const Clock::time_point start = Clock::now();
    Child child = options.terminal ? start_on_terminal(words, options) : start_on_pipes(words, options);
    Clock::time_point signaled = start;
    bool to_signal = options.signal != 0, to_kill = true;
    int status = 0;
    bool alive = true;
    while (alive || child.out >= 0 || child.err >= 0) {
        const bool pause = alive && Clock::now() - start < options.stdout_pause;
        std::array<pollfd, 2> ends = {pollfd{pause ? -1 : child.out, POLLIN, 0},
                                      pollfd{child.err, POLLIN, 0}};
        ::poll(ends.data(), ends.size(), 5);
        if (ends[0].revents != 0) drain(child.out, result.out);
        if (ends[1].revents != 0) drain(child.err, result.err);
        if (alive && ::waitpid(child.id, &status, WNOHANG) == child.id) {
            alive = false;
            result.seconds = seconds_since(start);
            if (options.signal != 0 && !to_signal) result.seconds_after_signal = seconds_since(signaled);
        }
        if (alive && to_signal && Clock::now() - start >= options.signal_after) {
            ::kill(child.id, options.signal);
            signaled = Clock::now();
            to_signal = false;
        }
        if (alive && to_kill && Clock::now() - start >= options.timeout) {
            ::kill(child.id, SIGKILL);
            to_kill = false;
        }
    }
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.ended_by = WTERMSIG(status);
    last() = "last run:";
    for (const auto& [name, value] : options.environment)
        last() += ' ' + name + '=' + value;
    for (const std::string& word : words)
        last() += ' ' + word;
    if (options.signal != 0)
        last() += "\nsignal " + std::to_string(options.signal) + " after " +
                  std::to_string(options.signal_after.count()) + " ms";
    last() += "\nexit code " + std::to_string(result.exit_code) + ", ended by signal " +
              std::to_string(result.ended_by) + ", standard error:\n" + result.err;
    return result;
}

}  // namespace knn::test
