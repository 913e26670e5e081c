/// How the network ends while a search does not.

#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <chrono>
#include <iterator>
#include <string>
#include <thread>

#include "app/serve/routes.h"
#include "tests/support/test.h"

using namespace knn;

TEST_CASE("server: a request that is not finished 15 seconds after the stop is told so") {
    std::atomic<bool> stop = false, over = false;
    web::Server server("127.0.0.1", 0);
    web::Routes routes(web::Access(server.address(), server.port(), ""), false);
    web::Model model;
    model.search = [&](std::span<Answer* const>) {
        while (!over)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
    };
    routes.open(std::move(model));
    std::thread network([&] { server.run(routes, stop); });
    boost::asio::ip::tcp::iostream client("127.0.0.1", std::to_string(server.port()));
    client << "POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1:" << server.port()
           << "\r\nContent-Length: 784\r\n\r\n"
           << std::string(784, 'x') << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    stop = true;
    const std::string response(std::istreambuf_iterator<char>(client), {});
    CHECK(response.starts_with("HTTP/1.1 503 "));
    CHECK(test::contains(response, "The server is stopping."));
    client.close();
    network.join();
    over = true;
}
