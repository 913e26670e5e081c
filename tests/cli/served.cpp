#include "tests/cli/served.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cli/json_schema.h"

namespace knn::test {

namespace {

constexpr int patience_ms = 60'000;  // other tests may keep the machine busy

std::string small_letters(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

}  // namespace

Client::Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = ::htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        ::close(std::exchange(socket_, -1));
}

Client::Client(Client&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), buffer_(std::move(other.buffer_)) {}

Client::~Client() {
    if (socket_ >= 0) ::close(socket_);
}

void Client::send(const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {  // until the server takes no more
        const ssize_t size = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (size <= 0) return;
        sent += static_cast<std::size_t>(size);
    }
}

void Client::end() {
    ::shutdown(socket_, SHUT_WR);
}

bool Client::fill() {
    pollfd watched{socket_, POLLIN, 0};
    if (::poll(&watched, 1, patience_ms) <= 0) return false;
    std::array<char, 65536> chunk;
    const ssize_t got = ::recv(socket_, chunk.data(), chunk.size(), 0);
    if (got <= 0) return false;
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    has_part_ = true;
    return true;
}

Answered Client::receive(bool with_body) {
    Answered answer;
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == buffer_.npos)
        if (!fill()) return answer;
    std::string head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    const int status = std::stoi(head.substr(head.find(' ') + 1));
    for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
        const std::size_t line_end = head.find("\r\n", at), colon = head.find(": ", at);
        answer.fields[small_letters(head.substr(at, colon - at))] =
            head.substr(colon + 2, line_end - colon - 2);
        at = line_end + 2;
    }
    const std::size_t size =
        with_body && status != 100 ? std::stoul("0" + answer.fields["content-length"]) : 0;
    while (buffer_.size() < size)
        if (!fill()) return {};
    answer.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    has_part_ = !buffer_.empty();
    answer.status = status;
    return answer;
}

bool Client::is_closed() {
    while (fill()) {
    }
    char byte = 0;
    return ::recv(socket_, &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
}

Served::Served(const Words& options, std::map<std::string, std::string> environment, bool waits,
               const std::string& program) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    Words words = Words{program, "serve", "--port", "0"} + options;
    process_ = ::fork();
    if (process_ == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::dup2(ends[1], STDERR_FILENO);
        for (const char* name : {"MNIST_KNN_DATA", "XDG_DATA_HOME", "XDG_CACHE_HOME"})
            ::unsetenv(name);
        for (const auto& [name, value] : environment)
            ::setenv(name.c_str(), value.c_str(), 1);
        std::vector<char*> arguments;
        for (std::string& word : words)
            arguments.push_back(word.data());
        arguments.push_back(nullptr);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    ::close(ends[1]);
    out_ = ends[0];
    const std::string address = "http://127.0.0.1:";
    std::array<char, 4096> chunk;
    for (ssize_t got = 0; output_.find(address) == output_.npos || !output_.ends_with('\n');) {
        if ((got = ::read(out_, chunk.data(), chunk.size())) <= 0)
            throw std::runtime_error("no address: " + output_);
        output_.append(chunk.data(), static_cast<std::size_t>(got));
    }
    ::fcntl(out_, F_SETFL, O_NONBLOCK);
    port_ = std::stoi(output_.substr(output_.find(address) + address.size()));
    for (int tries = 0; waits && Client(port_).is_open() && tries < 1200; ++tries) {
        if (send("GET /readyz HTTP/1.1\r\n" + host() + "\r\n").status == 200) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

Served::~Served() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    ::close(out_);
}

Answered Served::send(const std::string& bytes, bool with_body) const {
    Client client(port_);
    client.send(bytes);
    return client.receive(with_body);
}

Answered Served::get(const std::string& target, const std::string& fields) const {
    const Answered answer = send("GET " + target + " HTTP/1.1\r\n" + host() + fields + "\r\n");
    check_described("get", target, answer);
    return answer;
}

std::string Served::post_of(const std::string& target, const std::string& body,
                            const std::string& fields) const {
    return "POST " + target + " HTTP/1.1\r\n" + host() + fields +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

Answered Served::post(const std::string& target, const std::string& body, const std::string& fields) const {
    const Answered answer = send(post_of(target, body, fields));
    check_described("post", target, answer);
    return answer;
}

void Served::check_described(const std::string& method, const std::string& target,
                             const Answered& answer) const {
    if (description_.is_null())
        description_ = send("GET /openapi.json HTTP/1.1\r\n" + host() + "\r\n").json();
    CAPTURE(target);
    CAPTURE(answer.body);
    const std::string path = target.substr(0, target.find('?'));
    const auto& paths = description_["paths"];
    if (!paths.contains(path) || !paths[path].contains(method)) {
        CHECK((answer.status == 404 || answer.status == 405 || answer.status == 403 || answer.status == 503));
        return;
    }
    CHECK(mistake_of_response(description_, paths[path][method], answer.status,
                              answer.fields.at("content-type"), answer.body) == "");
}

int Served::stop(int signal) {
    ::kill(process_, signal);
    int status = 0;
    ::waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string Served::output() {
    std::array<char, 4096> chunk;
    for (ssize_t got = 0; (got = ::read(out_, chunk.data(), chunk.size())) > 0;)
        output_.append(chunk.data(), static_cast<std::size_t>(got));
    return output_;
}

}  // namespace knn::test
