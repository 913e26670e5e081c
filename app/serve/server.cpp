#include "app/serve/routes.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <set>

#include "data/core/errors.h"
#include "data/file/transfer.h"

namespace knn::web {

namespace asio = boost::asio;
using asio::ip::tcp;
using Error = boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// The limits of a connection.
constexpr std::size_t max_connections = 256;
constexpr std::size_t max_refused = 64;                  ///< connections that are told so, beside those
constexpr std::size_t max_received = 256 * 1024 * 1024;  ///< bytes of all bodies that are in memory
constexpr milliseconds max_silence{10'000};              ///< between two bytes of a client
constexpr milliseconds silence_when_stopping{1000};      ///< a request may be on its way
constexpr seconds max_request{30};                       ///< from the first byte of a request to its response
constexpr seconds max_lingering{2};                      ///< for the client to read the last response
constexpr seconds max_stopping{15};                      ///< for all that runs when the server stops
constexpr milliseconds tick{50};                         ///< how often `look` is called

}  // namespace

/// What all connections share. Only the network's thread touches it, except through asio::post.
struct Server::Network {
    asio::io_context io{1};
    tcp::acceptor acceptor{io};
    asio::steady_timer timer{io};
    tcp::endpoint endpoint;
    Routes* routes = nullptr;
    const std::atomic<bool>* stop = nullptr;
    std::set<std::shared_ptr<Connection>> connections;
    std::size_t refused = 0;   ///< of `connections`, those that are only told so
    std::size_t received = 0;  ///< see max_received
    bool accepting = false;    ///< an accept waits
    bool stopping = false;
    SteadyClock::time_point last;  ///< to stop

    void accept();
    void add(tcp::socket socket);
    void look();
    void begin_to_stop();
};

/// One client: its requests one after another.
///
///   idle ─first byte─► reading ─whole─► working ─response─► writing ─► idle, or lingering ─► closed
class Server::Connection : public std::enable_shared_from_this<Connection> {
  public:
    Connection(Network& network, tcp::socket socket) : network_(network), socket_(std::move(socket)) {}

    void start() {
        become_idle();
        read();
    }
    /// Only tells the client why it is not served.
    void refuse(const Problem& problem) {
        is_refused_ = true;
        begin_request();
        fail(problem);
    }
    /// A time limit has passed, perhaps, or the client is gone.
    void look(SteadyClock::time_point now);
    /// Only what has begun is finished.
    void stop() {
        if (phase_ == Phase::idle || phase_ == Phase::reading)
            deadline_ = std::min(deadline_, SteadyClock::now() + longest_silence());
    }
    void close();
    bool is_refused() const { return is_refused_; }

  private:
    enum class Phase { idle, reading, working, writing, lingering, closed };

    /// Between two bytes of the client.
    milliseconds longest_silence() const { return network_.stopping ? silence_when_stopping : max_silence; }
    void become_idle();
    void begin_request();
    void read();
    void take(std::size_t size);
    void advance();
    void receive_body();
    void work();
    void abandon() {
        if (abandoned_) *abandoned_ = true;
    }
    void respond(const Response& response, bool keep_alive);
    void fail(const Problem& problem) {
        if (reader_.head().method == "HEAD") with_body_ = false;  // its head may have been refused
        respond(problem_response(problem), false);
    }
    void written();

    Network& network_;
    tcp::socket socket_;
    Phase phase_ = Phase::idle;
    bool is_refused_ = false, is_checked_ = false, is_reading_ = false, keeps_alive_ = false,
         with_body_ = true;
    SteadyClock::time_point begun_, deadline_;
    std::size_t counted_ = 0;   ///< bytes of this body in Network::received
    std::uint64_t number_ = 0;  ///< of the request: an answer that comes too late is dropped
    std::string route_ = "other";
    std::shared_ptr<std::atomic<bool>> abandoned_;  ///< of the request that is answered
    RequestReader reader_;
    std::array<char, 16 * 1024> chunk_;
    std::string buffer_;  ///< received, not yet taken by the reader
    std::string output_;
};

void Server::Connection::become_idle() {
    phase_ = Phase::idle;
    deadline_ = SteadyClock::now() + longest_silence();
}

void Server::Connection::begin_request() {
    phase_ = Phase::reading;
    begun_ = SteadyClock::now();
    is_checked_ = false;
    route_ = "other";
    with_body_ = true;
    ++number_;
}

void Server::Connection::look(SteadyClock::time_point now) {
    // Whether the client has ended its side before it has its answer, also behind bytes that are not read yet.
    pollfd end{socket_.native_handle(), POLLRDHUP, 0};
    if (phase_ == Phase::working && ::poll(&end, 1, 0) > 0) abandon();
    const bool is_late = network_.stopping && phase_ == Phase::working && now > network_.last - max_lingering;
    if (phase_ == Phase::closed || (now < deadline_ && !is_late)) return;
    if (phase_ == Phase::reading)
        fail(Problem(408, "The request came too slowly."));
    else if (phase_ == Phase::working)
        fail(is_late ? try_later(503, "The server is stopping.")
                     : try_later(503, "The answer took longer than 30 seconds.", 5));
    else
        close();
}

void Server::Connection::close() {
    if (phase_ == Phase::closed) return;
    phase_ = Phase::closed;
    abandon();
    network_.received -= counted_;
    counted_ = 0;
    if (is_refused_) --network_.refused;
    Error ignored;
    socket_.close(ignored);
    network_.connections.erase(shared_from_this());
    network_.routes->metrics().set_connections(std::ssize(network_.connections));
}

void Server::Connection::read() {
    if (is_reading_) return;
    is_reading_ = true;
    socket_.async_read_some(asio::buffer(chunk_), [self = shared_from_this()](Error error, std::size_t size) {
        self->is_reading_ = false;
        if (error || size == 0) {
            if (self->phase_ != Phase::writing) self->close();
        } else {
            self->take(size);
        }
    });
}

/// New bytes are in `chunk_`.
void Server::Connection::take(std::size_t size) {
    if (phase_ == Phase::lingering) return read();  // they are dropped
    if (phase_ != Phase::idle && phase_ != Phase::reading) return;
    buffer_.append(chunk_.data(), size);
    if (phase_ == Phase::idle) begin_request();
    deadline_ = std::min(SteadyClock::now() + longest_silence(), begun_ + max_request);
    advance();
}

/// Takes from `buffer_` what belongs to the request.
void Server::Connection::advance() {
    try {
        for (std::size_t taken = 1; taken > 0 && reader_.stage() != RequestReader::Stage::whole;) {
            taken = reader_.take(buffer_);
            buffer_.erase(0, taken);
            if (reader_.stage() != RequestReader::Stage::head) receive_body();
        }
        if (reader_.stage() == RequestReader::Stage::whole)
            work();
        else
            read();
    } catch (const Problem& problem) {
        fail(problem);
    } catch (const std::bad_alloc&) {
        fail(try_later(503, "The server has not enough memory at the moment."));
    }
}

/// The head is there, and perhaps more.
void Server::Connection::receive_body() {
    if (!is_checked_) {
        is_checked_ = true;
        const Head& head = reader_.head();
        route_ = Routes::name_of(head);
        with_body_ = head.method != "HEAD";
        network_.routes->check(head);
        if (head.expects_continue && reader_.stage() == RequestReader::Stage::body && buffer_.empty() &&
            head.content_length.value_or(0) <= max_body_bytes) {
            constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
            Error ignored;  // a client that does not get it sends the body anyway
            socket_.send(asio::buffer(go_on.data(), go_on.size()), MSG_DONTWAIT, ignored);
        }
    }
    network_.received += reader_.body_size() - counted_;
    counted_ = reader_.body_size();
    if (network_.received > max_received)
        throw try_later(503, "The server has not enough memory for more requests at the moment.");
}

void Server::Connection::work() {
    phase_ = Phase::working;
    deadline_ = begun_ + max_request;
    Request request = reader_.release();
    request.abandoned = abandoned_ = std::make_shared<std::atomic<bool>>(false);
    keeps_alive_ = request.head.keep_alive;
    // Perhaps at once, or by another thread.
    network_.routes->answer(
        std::move(request), [self = shared_from_this(), number = number_](Response response) {
            asio::post(self->network_.io, [self, number, response = std::move(response)] {
                if (self->phase_ == Phase::working && self->number_ == number)
                    self->respond(response, self->keeps_alive_ && !self->network_.stopping);
            });
        });
}

void Server::Connection::respond(const Response& response, bool keep_alive) {
    abandon();  // past a time limit there may still be work for it
    const std::chrono::duration<double> time = SteadyClock::now() - begun_;
    network_.routes->metrics().count(route_, response.status, time.count());
    phase_ = Phase::writing;
    deadline_ = SteadyClock::now() + max_request;
    keeps_alive_ = keep_alive;
    network_.received -= counted_;
    counted_ = 0;
    output_ = bytes_of(response, keep_alive, with_body_);
    asio::async_write(socket_, asio::buffer(output_), [self = shared_from_this()](Error error, std::size_t) {
        if (error)
            self->close();
        else if (self->phase_ == Phase::writing)
            self->written();
    });
}

void Server::Connection::written() {
    output_ = {};
    if (!keeps_alive_) {
        // Closing with unread bytes would make the system drop the response too.
        Error ignored;
        socket_.shutdown(tcp::socket::shutdown_send, ignored);
        phase_ = Phase::lingering;
        deadline_ = SteadyClock::now() + max_lingering;
        read();
        return;
    }
    become_idle();
    if (buffer_.empty()) return read();
    begin_request();  // it came with the one before
    deadline_ = SteadyClock::now() + longest_silence();
    advance();
}

void Server::Network::accept() {
    if (accepting || stopping) return;
    accepting = true;
    acceptor.async_accept([this](Error error, tcp::socket socket) {
        accepting = false;
        // Without descriptors the next tick tries again.
        if (error) return;
        add(std::move(socket));
        accept();
    });
}

void Server::Network::add(tcp::socket socket) {
    Error ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const auto connection = std::make_shared<Connection>(*this, std::move(socket));
    const bool is_full = connections.size() - refused >= max_connections;
    if (is_full && refused >= max_refused) return;
    connections.insert(connection);
    routes->metrics().set_connections(std::ssize(connections));
    if (is_full) {
        ++refused;
        connection->refuse(try_later(503, "The server has no more than 256 connections."));
    } else {
        connection->start();
    }
}

/// Each tick: time limits, clients that are gone, and whether to stop.
void Server::Network::look() {
    const auto now = SteadyClock::now();
    const std::vector<std::shared_ptr<Connection>> all(connections.begin(), connections.end());
    for (const auto& connection : all)
        connection->look(now);
    if (stop->load(std::memory_order_relaxed) && !stopping) begin_to_stop();
    if (stopping && (connections.empty() || now > last)) {
        for (const auto& connection : all)
            connection->close();
        return io.stop();
    }
    if (acceptor.is_open()) accept();
    timer.expires_after(tick);
    timer.async_wait([this](Error) { look(); });
}

void Server::Network::begin_to_stop() {
    stopping = true;
    last = SteadyClock::now() + max_stopping + max_lingering;
    routes->close();
    // Clients that the system has accepted already get answers too.
    Error error;
    acceptor.cancel(error);
    acceptor.non_blocking(true, error);
    for (;;) {
        tcp::socket socket(io);
        acceptor.accept(socket, error);
        if (error) break;
        add(std::move(socket));
    }
    acceptor.close(error);
    const std::vector<std::shared_ptr<Connection>> all(connections.begin(), connections.end());
    for (const auto& connection : all)
        connection->stop();
}

Server::Server(const std::string& address, int port) try : network_(std::make_unique<Network>()) {
    Error error;
    const auto numeric = asio::ip::make_address(address, error);
    if (error)
        throw UsageError("--address " + address + ": not a numeric address; expected one such as 127.0.0.1");
    tcp::acceptor& acceptor = network_->acceptor;
    const tcp::endpoint endpoint(numeric, static_cast<std::uint16_t>(port));
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen();
    network_->endpoint = acceptor.local_endpoint();
} catch (const boost::system::system_error& error) {
    throw DataError(address + ":" + std::to_string(port) +
                    ": cannot listen there: " + error.code().message() + "; expected " +
                    (error.code() == asio::error::no_descriptors
                         ? more_files
                         : "an address of this machine and a free port (--port)"));
}

Server::~Server() = default;

std::string Server::address() const {
    return network_->endpoint.address().to_string();
}

std::string Server::host() const {
    const std::string text = address();
    return network_->endpoint.address().is_v6() ? '[' + text + ']' : text;
}

int Server::port() const {
    return network_->endpoint.port();
}

void Server::run(Routes& routes, const std::atomic<bool>& stop) {
    network_->routes = &routes;
    network_->stop = &stop;
    network_->look();
    network_->io.run();
}

}  // namespace knn::web
