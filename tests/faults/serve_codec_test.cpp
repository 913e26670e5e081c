/// Pictures that take the decoder's process down cost `serve` one request each.

#include "tests/cli/pictures.h"
#include "tests/cli/served.h"

namespace knn::test {
namespace {

std::string resident(const Served& server) {
    const std::string text = server.get("/metrics").body, name = "\nprocess_resident_memory_bytes ";
    const std::size_t at = text.find(name) + name.size();
    return text.substr(at, text.find('\n', at) - at);
}

}  // namespace

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
        const Answered bad =
            server.post("/v1/classify", "P5\n# crash:" + kind + "\n9 9 255\n" + std::string(81, 'x'), type);
        CHECK(bad.status == 422);
        CHECK(beside.receive().body == before.body);
        CHECK(server.post("/v1/classify", good, type).body == before.body);
    }
    CHECK(std::stod(resident(server)) / 1e6 < megabytes + 50);
}

}  // namespace knn::test
