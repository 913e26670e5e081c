/// Loads a running `mnist-knn serve` with requests for digits, and says how many it answers and how long each takes:
///     serve_load PORT CONNECTIONS SECONDS IMAGES [IMAGES_PER_REQUEST [PREDICTIONS]]
/// IMAGES is an IDX file of images. PREDICTIONS, the predictions.csv of `evaluate` for them: each answer is compared with it, and
/// the exit code is 1 if one differs or a request fails. Each connection sends its next request when the last one is answered.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Connection {
    int socket = -1;
    std::string received;
    std::size_t first = 0;  ///< image of the request that is not answered yet
    Clock::time_point sent;
};

struct Load {
    int port = 0;
    std::size_t per_request = 1, next = 0;
    std::string pixels;
    std::vector<std::string> expected;  ///< labels; empty: unknown
    std::size_t failed = 0, wrong = 0;
    std::vector<double> ms;

    std::size_t images() const { return pixels.size() / 784; }
    bool begin(Connection& connection);
    bool send(Connection& connection);
    bool take(Connection& connection);
    void compare(const Connection& connection, const std::string& body);
};

bool Load::begin(Connection& connection) {
    connection = {};
    connection.socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = ::htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return ::connect(connection.socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
           send(connection);
}

bool Load::send(Connection& connection) {
    connection.first = next;
    next = next + 2 * per_request > images() ? 0 : next + per_request;
    connection.sent = Clock::now();
    const std::string request = "POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                                "\r\nContent-Length: " + std::to_string(784 * per_request) + "\r\n\r\n" +
                                pixels.substr(784 * connection.first, 784 * per_request);
    for (std::size_t sent = 0; sent < request.size();) {
        const ssize_t size =
            ::send(connection.socket, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
        if (size <= 0) return false;
        sent += static_cast<std::size_t>(size);
    }
    return true;
}

/// The digits of the response are those expected.
void Load::compare(const Connection& connection, const std::string& body) {
    std::istringstream list(body.substr(body.find('[') + 1, body.find(']') - body.find('[') - 1));
    std::string digit;
    for (std::size_t i = connection.first; std::getline(list, digit, ','); ++i)
        if (i >= expected.size() || digit != expected[i]) ++wrong;
}

/// What has arrived; false: the connection is of no more use.
bool Load::take(Connection& connection) {
    char chunk[65536];
    const ssize_t got = ::recv(connection.socket, chunk, sizeof chunk, 0);
    if (got <= 0) return false;
    connection.received.append(chunk, static_cast<std::size_t>(got));
    const std::size_t end = connection.received.find("\r\n\r\n"),
                      field = connection.received.find("Content-Length: ");
    if (end == std::string::npos || field == std::string::npos) return true;
    const std::size_t size = std::stoul(connection.received.substr(field + 16));
    if (connection.received.size() < end + 4 + size) return true;
    ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - connection.sent).count());
    if (!connection.received.starts_with("HTTP/1.1 200")) return false;
    if (!expected.empty()) compare(connection, connection.received.substr(end + 4, size));
    connection.received.erase(0, end + 4 + size);
    return send(connection);
}

std::string file_content(const char* name) {
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fputs("usage: serve_load PORT CONNECTIONS SECONDS IMAGES [IMAGES_PER_REQUEST [PREDICTIONS]]\n",
                   stderr);
        return 2;
    }
    Load load;
    load.port = std::stoi(argv[1]);
    load.pixels = file_content(argv[4]).erase(0, 16);
    if (argc > 5) load.per_request = std::stoul(argv[5]);
    if (load.images() < load.per_request) {
        std::fprintf(stderr, "%s: has too few images\n", argv[4]);
        return 2;
    }
    if (argc > 6) {
        std::istringstream lines(file_content(argv[6]));
        std::string line, label;
        for (std::getline(lines, line); std::getline(lines, line);) {
            std::istringstream fields(line);
            for (int i = 0; i < 3; ++i)
                std::getline(fields, label, ',');
            load.expected.push_back(label);
        }
    }
    std::vector<Connection> connections(std::stoul(argv[2]));
    for (Connection& connection : connections)
        if (!load.begin(connection)) return std::perror("connect"), 1;
    const auto start = Clock::now();
    const auto end = start + std::chrono::seconds(std::stoi(argv[3]));
    while (Clock::now() < end) {
        std::vector<pollfd> watched;
        for (const Connection& connection : connections)
            watched.push_back({connection.socket, POLLIN, 0});
        ::poll(watched.data(), watched.size(), 1000);
        for (std::size_t i = 0; i < watched.size(); ++i) {
            if (watched[i].revents == 0 || load.take(connections[i])) continue;
            ++load.failed;
            ::close(connections[i].socket);
            if (!load.begin(connections[i])) return std::perror("connect"), 1;
        }
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    std::vector<double>& ms = load.ms;
    if (ms.empty()) return std::puts("no answer"), 1;
    std::ranges::sort(ms);
    const auto at = [&](double share) {
        return ms[static_cast<std::size_t>(share * static_cast<double>(ms.size() - 1))];
    };
    std::printf(
        "%.0f digits/s, %zu requests, p50 %.2f ms, p99 %.2f ms, longest %.1f ms, %zu failed, %zu wrong\n",
        static_cast<double>(ms.size() * load.per_request) / seconds, ms.size(), at(0.5), at(0.99), ms.back(),
        load.failed, load.wrong);
    return load.failed + load.wrong == 0 ? 0 : 1;
}
