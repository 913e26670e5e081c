#include "app/serve/http.h"
#include "tests/support/test.h"

using namespace knn;
using namespace knn::web;

namespace {

/// The requests in these bytes, which arrive in pieces of `piece` bytes; the status of the refusal comes last, as a body.
std::vector<Request> requests_in(const std::string& bytes, std::size_t piece) {
    std::vector<Request> requests;
    RequestReader reader;
    std::string buffer;
    try {
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
            buffer += bytes.substr(at, piece);
            for (std::size_t taken = 1; taken > 0;) {
                taken = reader.take(buffer);
                buffer.erase(0, taken);
                if (reader.stage() == RequestReader::Stage::whole) requests.push_back(reader.release());
            }
        }
    } catch (const knn::web::Problem& problem) {
        requests.push_back({{}, std::to_string(problem.status)});
    }
    return requests;
}

/// The status of the refusal; 0: none.
int status_of(const std::string& bytes) {
    const std::vector<Request> all = requests_in(bytes, bytes.size());
    return all.empty() || !all.back().head.method.empty() ? 0 : std::stoi(all.back().body);
}

const std::string get = "GET /v1/info?a=b HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string post = "POST /v1/predict HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde";
const std::string chunked =
    "POST /v1/predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    "2\r\nab\r\n3;why=not\r\ncde\r\n0\r\nTrailer: x\r\n\r\n";

}  // namespace

TEST_CASE("requests: the same whatever the pieces in which they arrive") {
    const std::string all = get + post + chunked + get;
    for (std::size_t piece = 1; piece <= all.size(); ++piece) {
        const std::vector<Request> requests = requests_in(all, piece);
        CAPTURE(piece);
        REQUIRE(requests.size() == 4);
        CHECK(requests[0].head.method == "GET");
        CHECK(requests[0].head.path == "/v1/info");
        CHECK(requests[0].head.query == "a=b");
        CHECK(requests[0].body.empty());
        CHECK(requests[1].head.content_length == 5);
        CHECK(requests[1].body == "abcde");
        CHECK(requests[2].head.chunked);
        CHECK(requests[2].body == "abcde");
        CHECK(requests[3].head.path == "/v1/info");
    }
}

TEST_CASE("requests: empty lines before one, and a target in absolute form, whose host counts") {
    const auto form = [](const std::string& target) {
        return "\r\n\r\nGET " + target + " HTTP/1.1\r\nHost: other\r\n\r\n";
    };
    const std::string all =
        form("HTTP://a:1/v1/info?a=b") + form("http://a:1") + form("http://a:1?a=b") + form("/");
    for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, all.size()}) {
        const std::vector<Request> requests = requests_in(all, piece);
        CAPTURE(piece);
        REQUIRE(requests.size() == 4);
        CHECK(requests[0].head.path == "/v1/info");
        CHECK(requests[1].head.path == "/");
        CHECK(requests[2].head.path == "/");
        CHECK(requests[2].head.query == "a=b");
        for (std::size_t i = 0; i < 4; ++i)
            CHECK(requests[i].head.host == (i == 3 ? "other" : "a:1"));
    }
}

TEST_CASE("requests: none before the last byte") {
    for (const std::string& one : {get, post, chunked})
        for (std::size_t cut = 0; cut < one.size(); ++cut)
            CHECK(requests_in(one.substr(0, cut), one.size()).empty());
}

TEST_CASE("requests that are not valid are refused") {
    const auto with = [](const std::string& fields) { return "POST / HTTP/1.1\r\n" + fields + "\r\n"; };
    CHECK(status_of("nonsense\r\n\r\n") == 400);
    CHECK(status_of(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03", 10) + "\r\n\r\n") == 400);  // TLS
    CHECK(status_of("GET / HTTP/2.0\r\nHost: x\r\n\r\n") == 400);
    CHECK(status_of("GET https://x/ HTTP/1.1\r\nHost: x\r\n\r\n") == 400);
    CHECK(status_of("GET / HTTP/1.1\r\n\r\n") == 400);
    CHECK(status_of(with("Host: x\r\nHost: x\r\n")) == 400);
    CHECK(status_of(with("Host: x\r\nOrigin: a\r\nOrigin: b\r\n")) == 400);
    CHECK(status_of(with("Host: x\r\nBad field: 1\r\n")) == 400);
    CHECK(status_of(with("Host: x\r\nContent-Length: -1\r\n")) == 400);
    CHECK(status_of(with("Host: x\r\nContent-Length: 99999999999999999999\r\n")) == 400);
    CHECK(status_of(with("Host: x\r\nContent-Length: 3\r\nContent-Length: 5\r\n")) == 400);
    CHECK(status_of(with("Host: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n")) == 400);
    CHECK(status_of(with("Host: x\r\nTransfer-Encoding: gzip, chunked\r\n")) == 400);
    CHECK(status_of(with("Host: x\r\nTransfer-Encoding: chunked\r\n") + "zz\r\n") == 400);
    CHECK(status_of(get) == 0);
}

TEST_CASE("requests that are too large are refused, as soon as that is known") {
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\n";
    CHECK(status_of(head + "Content-Length: 20000000\r\n\r\n") == 0);
    CHECK(status_of(head + "Content-Length: 20000001\r\n\r\n") == 413);
    const std::string chunk = "100000\r\n" + std::string(0x100000, 'a') + "\r\n";
    std::string chunks = head + "Transfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 19; ++i)
        chunks += chunk;
    CHECK(status_of(chunks) == 0);
    CHECK(status_of(chunks + chunk) == 413);
    CHECK(status_of(head + "A: " + std::string(60'000, 'a') + "\r\n\r\n") == 0);
    CHECK(status_of(head + "A: " + std::string(66'000, 'a') + "\r\n\r\n") == 431);
    CHECK(status_of(head + "A: " + std::string(66'000, 'a')) == 431);
    // What belongs to chunks beside the body.
    CHECK(status_of(head + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(70'000, 'a')) >= 400);
    CHECK(status_of(head + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: " + std::string(70'000, 'a')) >= 400);
}

TEST_CASE("requests: a client of HTTP/1.0 gets no 100 Continue, which it does not know") {
    for (const std::string version : {"1.0", "1.1"}) {
        const auto requests =
            requests_in("POST /v1/predict HTTP/" + version +
                            "\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na",
                        1000);
        REQUIRE(requests.size() == 1);
        CHECK(requests[0].head.expects_continue == (version == "1.1"));
    }
}

TEST_CASE("requests: chunks of HTTP/1.0 are the last request of their connection") {
    const std::string fields = "\r\nHost: x\r\nConnection: keep-alive\r\n";
    const std::string lengths[] = {"Content-Length: 0\r\n\r\n",
                                   "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"};
    for (const std::string version : {"1.0", "1.1"})
        for (const std::string& length : lengths) {
            const auto requests = requests_in("POST / HTTP/" + version + fields + length, 1000);
            REQUIRE(requests.size() == 1);
            CHECK(requests[0].head.keep_alive == (version == "1.1" || &length == lengths));
        }
}
