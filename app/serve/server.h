#pragma once
/// The network: connections, time limits, stopping. One thread.

#include <atomic>
#include <memory>
#include <string>

namespace knn::web {

class Routes;

class Server {
  public:
    /// Listens at a numeric address; port 0: any free one. Throws DataError, UsageError.
    Server(const std::string& address, int port);
    ~Server();

    /// The numeric address and the port where it listens; an address of IPv6 as it is in URLs, in brackets.
    std::string address() const;
    std::string host() const;
    int port() const;

    /// Answers requests until `stop` is set; then those that have begun, for some seconds. `routes` may call back until the
    /// server is destroyed.
    void run(Routes& routes, const std::atomic<bool>& stop);

  private:
    class Connection;
    struct Network;

    std::unique_ptr<Network> network_;
};

}  // namespace knn::web
