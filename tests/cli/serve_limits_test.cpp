/// What `serve` does with clients that are slow, many, broken or hostile, and how it ends.
#include "tests/cli/served.h"

#include "tests/cli/pictures.h"

namespace knn::test {
namespace {

const std::string one_image(784, '\1');

struct SmallServer {
    std::string predict() const { return server.post_of("/v1/predict", one_image); }
    std::string classify() const { return server.post_of("/v1/classify", Page(50, 50).pgm()); }
    std::string livez() const { return "GET /livez HTTP/1.1\r\n" + server.host() + "\r\n"; }
    bool is_alive() const { return server.send(livez()).status == 200; }

    ToServe work;
    Served server{work.words};
};

constexpr const char* no_children = "the kernel lists no children";

/// The server's children; empty where the kernel does not list them.
std::vector<pid_t> decoders_of(const Served& server) {
    std::vector<pid_t> found;
    for (const auto& thread :
         std::filesystem::directory_iterator("/proc/" + std::to_string(server.process()) + "/task")) {
        std::ifstream children(thread.path() / "children");
        for (pid_t child = 0; children >> child;)
            found.push_back(child);
    }
    return found;
}

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE_FIXTURE(SmallServer, "serve: requests on one connection, in chunks, and one behind the other") {
    Client client(server.port());
    std::string all;
    for (int i = 0; i < 50; ++i)
        all += i % 3 == 0 ? livez() : predict();
    client.send(all);
    for (int i = 0; i < 50; ++i)
        CHECK(client.receive().status == 200);
    std::string chunks =
        "POST /v1/predict HTTP/1.1\r\n" + server.host() + "Transfer-Encoding: chunked\r\n\r\n";
    for (std::size_t at = 0; at < one_image.size(); at += 49)
        chunks += "31\r\n" + one_image.substr(at, 49) + "\r\n";
    client.send(chunks + "0\r\n\r\n" + livez());
    CHECK(client.receive().json()["digits"].size() == 1);
    CHECK(client.receive().status == 200);
    client.send("GET /livez HTTP/1.1\r\n" + server.host() + "Connection: close\r\n\r\n");
    CHECK(client.receive().fields.at("connection") == "close");
    CHECK(client.is_closed());
}

TEST_CASE_FIXTURE(SmallServer, "serve: pictures whose clients are gone hold up nobody, nor the end") {
    if (!has_opencv) return skip(no_opencv);
    const std::string large =  // some seconds each
        server.post_of("/v1/classify?many=1", "P4 10000 10000\n" + std::string(10'000 * 1250, '\0'));
    const auto send_large = [&] {
        std::vector<Client> clients;
        for (int i = 0; i < 10; ++i)
            clients.emplace_back(server.port()).send(large);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        for (Client& client : clients)
            client.send(livez());  // before the answer, and before the end
    };
    Client half(server.port());
    half.send(large);
    half.end();
    const Answered answer = half.receive();
    CHECK(answer.status == 503);
    CHECK(answer.fields.contains("retry-after"));
    send_large();
    CHECK(seconds_of([&] { CHECK(server.send(classify()).status == 200); }) < 5);
    send_large();
    CHECK(seconds_of([&] { CHECK(server.stop(SIGTERM) == 0); }) < 5);
}

TEST_CASE_FIXTURE(SmallServer, "serve: requests that are cut at every byte harm nobody") {
    const std::string request = predict();
    for (std::size_t cut = 0; cut < request.size(); cut += cut < 130 ? 1 : 31) {
        Client client(server.port());
        client.send(request.substr(0, cut));
        client.end();
        CHECK(client.receive().status == 0);
    }
    CHECK(is_alive());
    // One byte after the other is answered.
    Client slow(server.port());
    for (const char byte : livez()) {
        slow.send({byte});
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(slow.receive().status == 200);
}

TEST_CASE_FIXTURE(SmallServer, "serve: a Content-Length that lies, and silence, cost the client alone") {
    Client less(server.port()), nothing(server.port()), head(server.port());
    less.send("POST /v1/predict HTTP/1.1\r\n" + server.host() + "Content-Length: 1000\r\n\r\n" + one_image);
    head.send("GET /livez HTTP/1.1\r\nHost");
    Client more(server.port());
    more.send("POST /v1/predict HTTP/1.1\r\n" + server.host() + "Content-Length: 784\r\n\r\n" + one_image +
              "XX\r\n\r\n");
    CHECK(more.receive().status == 200);
    CHECK(more.receive().status == 400);
    CHECK(is_alive());
    const double seconds = seconds_of([&] {
        CHECK(less.receive().status == 408);
        CHECK(head.receive().status == 408);
        CHECK(nothing.receive().status == 0);  // no request, no answer
        CHECK(nothing.is_closed());
    });
    CHECK(seconds > 7);
    CHECK(seconds < 25);
}

TEST_CASE_FIXTURE(SmallServer, "serve: a request that trickles in is refused after 30 seconds") {
    Client client(server.port());
    const double seconds = seconds_of([&] {
        client.send("POST /v1/predict HTTP/1.1\r\n" + server.host() + "Content-Length: 784\r\n\r\n");
        const std::jthread trickle([&](const std::stop_token& refused) {
            for (int i = 0; i < 40 && !refused.stop_requested(); ++i) {
                client.send("x");
                std::this_thread::sleep_for(std::chrono::seconds(1));
            }
        });
        CHECK(client.receive().status == 408);
    });
    CHECK(seconds > 28);
}

TEST_CASE_FIXTURE(SmallServer, "serve: 1,000 connections that send nothing are limited, and pass") {
    std::vector<Client> clients;
    for (int i = 0; i < 1000; ++i)
        clients.emplace_back(server.port());
    const Answered full = server.send(livez());
    CHECK((full.status == 503 || full.status == 0));
    CHECK(clients[300].receive().status == 503);
    std::this_thread::sleep_for(std::chrono::seconds(11));
    CHECK(is_alive());
}

TEST_CASE("serve: more pictures than can wait are refused, and no others") {
    if (!has_opencv) return skip(no_opencv);
    const SmallServer small;
    const std::vector<pid_t> decoders = decoders_of(small.server);
    if (decoders.empty()) return skip(no_children);
    for (const pid_t decoder : decoders)
        ::kill(decoder, SIGSTOP);
    std::vector<Client> clients;
    for (int i = 0; i < 40; ++i)
        clients.emplace_back(small.server.port()).send(small.classify());
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK(small.is_alive());
    for (const pid_t decoder : decoders)
        ::kill(decoder, SIGCONT);
    int answered = 0, refused = 0;
    for (Client& client : clients) {
        const Answered answer = client.receive();
        answered += answer.status == 200 ? 1 : 0;
        refused += answer.status == 429 && answer.fields.at("retry-after") == "1" ? 1 : 0;
    }
    CHECK(answered >= 32);  // wait, and up to two are decoded
    CHECK(answered <= 34);
    CHECK(answered + refused == 40);
}

TEST_CASE("serve: a decoder that the system ends while it has nothing to do costs no request") {
    if (!has_opencv) return skip(no_opencv);
    const SmallServer small;
    const std::vector<pid_t> decoders = decoders_of(small.server);
    if (decoders.empty()) return skip(no_children);
    CHECK(decoders.size() == 2);
    for (const pid_t decoder : decoders)
        ::kill(decoder, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    for (int i = 0; i < 4; ++i)
        CHECK(small.server.send(small.classify()).status == 200);
}

TEST_CASE_FIXTURE(ToServe, "serve: SIGTERM during 100 requests: each is answered or refused, none is cut") {
    Served server(words);
    const std::string request = server.post_of("/v1/predict", one_image);
    std::atomic<int> answered = 0, refused = 0, reset = 0, cut = 0;
    std::atomic<bool> stopped = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 100; ++i)
        threads.emplace_back([&] {
            for (int n = 0; n < 1000 && !stopped; ++n) {
                Client client(server.port());
                if (!client.is_open()) {
                    ++refused;
                    return;
                }
                client.send(request);
                const Answered answer = client.receive();
                if (answer.status == 200 || answer.status == 503)
                    ++answered;
                else
                    ++(client.has_part() ? cut : reset);
            }
        });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK(server.stop(SIGTERM) == 0);
    for (std::thread& thread : threads)
        thread.join();
    CHECK(answered.load() > 50);  // on a busy machine not all have begun
    CHECK(cut.load() == 0);
    // The system resets a connection that it opens just while the socket closes.
    CHECK(reset.load() <= 2);
    CHECK(refused.load() == 100);
}

TEST_CASE_FIXTURE(
    ToServe,
    "serve ends: 130 after SIGINT, 0 after SIGTERM, also before it is ready, and what waits is answered") {
    Served a(words), b(words, {}, false);
    CHECK(a.stop(SIGINT) == 130);
    const int code = b.stop(SIGTERM);
    CHECK((code == 0 || code == 130));
    Served c(words);
    Client idle(c.port()), begun(c.port());
    begun.send("POST /v1/predict HTTP/1.1\r\n" + c.host() + "Content-Length: 784\r\n\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::future<int> end = std::async(std::launch::async, [&] { return c.stop(SIGTERM); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    begun.send(one_image);
    CHECK(begun.receive().status == 200);
    CHECK(idle.is_closed());
    CHECK(end.get() == 0);
}

TEST_CASE_FIXTURE(ToServe, "serve ends without a client that has sent half a request and no more") {
    Served server(words);
    Client head(server.port()), body(server.port());
    head.send("GET /livez HTTP/1.1\r\nHost");
    body.send("POST /v1/predict HTTP/1.1\r\n" + server.host() + "Content-Length: 784\r\n\r\n1");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    CHECK(seconds_of([&] { CHECK(server.stop(SIGTERM) == 0); }) < 5);
    CHECK(body.receive().status == 408);
}

TEST_CASE("serve: a signal lets the search of a request that takes seconds end") {
    const ToServe work;
    for (const int signal : {SIGTERM, SIGINT}) {
        Served server("--device cpu --method accurate --data" + Words{work.folder.path().string()});
        constexpr int count = 5000;
        std::string images;
        for (int i = 0; i < count * 784; ++i)
            images += char(i % 251);
        Client client(server.port());
        client.send(server.post_of("/v1/predict", images));
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        CHECK(server.stop(signal) == (signal == SIGINT ? 130 : 0));
        CHECK(client.receive().json()["digits"].size() == count);
    }
}

TEST_CASE_FIXTURE(ToServe, "serve: a port that is taken, no cache, no HOME, a full disk") {
    const Served first(words, {{"HOME", ""}});
    check_error(program("serve" + words + ("--port " + std::to_string(first.port()))), 1,
                "cannot listen there: Address already in use");
    const RunResult full = program("serve --port 0" + words, {.stdout_file = "/dev/full"});
    CHECK(full.exit_code == 1);
}

}  // namespace knn::test
