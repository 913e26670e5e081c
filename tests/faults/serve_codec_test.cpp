/// Pictures that take the decoder's process down cost `serve` one request each.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/cli/pictures.h"
#include "tests/cli/served.h"

namespace knn::test {
namespace {

std::string resident(const Served& server) {
    const std::string text = server.get("/metrics").body, name = "\nprocess_resident_memory_bytes ";
    const std::size_t at = text.find(name) + name.size();
    return text.substr(at, text.find('\n', at) - at);
}

std::vector<pid_t> descendants_of(pid_t process) {
    std::vector<pid_t> all;
    const std::string of = std::to_string(process);
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + of + "/task")) {
        std::ifstream children(task.path() / "children");
        for (pid_t child = 0; children >> child;) {
            all.push_back(child);
            std::ranges::copy(descendants_of(child), std::back_inserter(all));
        }
    }
    return all;
}

bool is_running(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/stat");
    std::string number, name, state;
    return status >> number >> name >> state && state != "Z";
}

bool all_end_within(const std::vector<pid_t>& processes, std::chrono::seconds limit) {
    const auto last = std::chrono::steady_clock::now() + limit;
    while (std::ranges::any_of(processes, is_running)) {
        if (std::chrono::steady_clock::now() > last) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

/// A picture that codec_crash.cpp does this to.
std::string of_kind(const std::string& kind) {
    return "P5\n9 9 255\n" + std::string(81, 'x') + "crash:" + kind + "\n";
}

}  // namespace

TEST_CASE("faults: decoders end with a server that is killed") {
    if (!has_opencv) return skip(no_opencv);
    const Digits digits;
    Served server("--device cpu --method raw --data " + digits.folder.path().string(),
                  {{"LD_PRELOAD", MNIST_KNN_CODEC_CRASH}, {"MNIST_KNN_CRASH", "picture"}});
    Client client(server.port());
    client.send(
        server.post_of("/v1/classify", of_kind("spin"), "Content-Type: application/octet-stream\r\n"));
    std::vector<pid_t> decoders;
    for (int i = 0; i < 500 && decoders.size() < 2; ++i) {  // the process, and its copy for this picture
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        decoders = descendants_of(server.process());
    }
    REQUIRE(decoders.size() >= 2);
    server.stop(SIGKILL);
    CHECK(all_end_within(decoders, std::chrono::seconds(3)));
}

TEST_CASE("faults: a codec that crashes, hangs or eats memory costs serve one request") {
    if (!has_opencv) return skip(no_opencv);
    const Digits digits;
    const Served server("--device cpu --method raw --data " + digits.folder.path().string(),
                        {{"LD_PRELOAD", MNIST_KNN_CODEC_CRASH}, {"MNIST_KNN_CRASH", "picture"}});
    const std::string good = photo(digits, 0), type = "Content-Type: application/octet-stream\r\n";
    const Answered before = server.post("/v1/classify", good, type);
    REQUIRE(before.status == 200);
    const double megabytes = std::stod(resident(server)) / 1e6;
    for (const std::string kind : {"abort", "segv", "nomem", "memory", "abort", "abort", "spin", "hang"}) {
        CAPTURE(kind);
        Client beside(server.port());  // is answered meanwhile, by the other process
        beside.send(server.post_of("/v1/classify", good));
        const Answered bad = server.post("/v1/classify", of_kind(kind), type);
        CHECK(bad.status == 422);
        CAPTURE(bad.body);
        CHECK(contains(bad.body, "took more than ") == (kind == "spin" || kind == "hang"));
        CHECK(beside.receive().body == before.body);
        CHECK(server.post("/v1/classify", good, type).body == before.body);
    }
    CHECK(std::stod(resident(server)) / 1e6 < megabytes + 50);
}

}  // namespace knn::test
