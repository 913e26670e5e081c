#pragma once
/// `mnist-knn serve` in a process of its own, and clients for it.

#include <sys/types.h>

#include "tests/cli/program.h"

namespace knn::test {

struct Answered {
    int status = 0;  ///< 0: the connection was closed without a whole response
    std::map<std::string, std::string> fields = {};  ///< names in small letters
    std::string body = {};

    nlohmann::json json() const { return nlohmann::json::parse(body); }
};

/// One connection, with blocking calls that end after some seconds.
class Client {
  public:
    explicit Client(int port);
    Client(Client&& other) noexcept;
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    ~Client();

    bool is_open() const { return socket_ >= 0; }
    void send(const std::string& bytes);
    /// No more follows.
    void end();
    /// The next response; one to HEAD has no body.
    Answered receive(bool with_body = true);
    /// Whether there are bytes of a response that is not whole.
    bool has_part() const { return has_part_; }
    /// Whether the server closes the connection.
    bool is_closed();

  private:
    bool fill();

    int socket_ = -1;
    bool has_part_ = false;
    std::string buffer_;
};

/// Images as MNIST has them, and the options to serve them.
struct ToServe : Work {
    explicit ToServe(int n_test = 17) : Work({.rows = 28, .cols = 28, .test = n_test}) {}
    const Words words = "--device cpu --method raw -k 1 --data" + Words{folder.path().string()};
};

class Served {
  public:
    /// Starts it with these options, on a free port, in an environment without a data set, and waits until it is ready.
    explicit Served(const Words& options, std::map<std::string, std::string> environment = {},
                    bool waits = true, const std::string& program = program_file());
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;
    ~Served();

    int port() const { return port_; }
    pid_t process() const { return process_; }
    /// Fields that every request needs, each with its line end.
    std::string host() const { return "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n"; }

    /// One request with a connection of its own. `fields`: lines, each with its line end. CHECKs that the response is one
    /// that /openapi.json describes.
    Answered get(const std::string& target, const std::string& fields = "") const;
    Answered post(const std::string& target, const std::string& body, const std::string& fields = "") const;
    /// The bytes of such a request.
    std::string post_of(const std::string& target, const std::string& body,
                        const std::string& fields = "") const;
    /// The same of any bytes, which are the head and the body of a request.
    Answered send(const std::string& bytes, bool with_body = true) const;

    /// Sends the signal and waits for the end. Returns the exit code, -1 after a signal.
    int stop(int signal);
    /// What it has written to standard output and standard error.
    std::string output();

  private:
    void check_described(const std::string& method, const std::string& target, const Answered& answer) const;

    pid_t process_ = -1;
    int out_ = -1, port_ = 0;
    std::string output_;
    mutable nlohmann::json description_;
};

}  // namespace knn::test
