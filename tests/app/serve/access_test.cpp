#include "app/serve/routes.h"
#include "tests/support/test.h"

using namespace knn::web;

namespace {

/// The status of the refusal; 0: none.
template <class Check>
int refusal(const Check& check) {
    try {
        check();
    } catch (const knn::web::Problem& problem) {
        return problem.status;
    }
    return 0;
}

Head asked_as(const std::string& host, const std::string& origin = "", const std::string& site = "") {
    Head head;
    head.host = host;
    head.origin = origin;
    head.fetch_site = site;
    return head;
}

int origin_status(const Access& access, const Head& head) {
    return refusal([&] { access.check_origin(head); });
}

}  // namespace

TEST_CASE("access: by which names the server is known") {
    const Access loopback("127.0.0.1", 8765, ""), any("0.0.0.0", 80, ""), six("::1", 8765, ""),
        lan("10.0.0.2", 8765, "");
    for (const char* host : {"127.0.0.1:8765", "localhost:8765", "LocalHost:8765"})
        CHECK(origin_status(loopback, asked_as(host)) == 0);
    for (const char* host :
         {"", "127.0.0.1", "127.0.0.1:8766", "evil.example:8765", "127.0.0.1.evil.example:8765",
          "localhost.:8765", "127.0.0.2:8765", "0.0.0.0:8765", "[::1]:8765", "2130706433:8765",
          "0x7f000001:8765", "127.1:8765", "evil.example:8765@127.0.0.1:8765", "127.0.0.1:8765:8765",
          "[127.0.0.1]:8765", " 127.0.0.1:8765"})
        CHECK(origin_status(loopback, asked_as(host)) == 403);
    for (const char* host : {"10.0.0.2", "10.0.0.2:80", "localhost", "[fe80::1]"})
        CHECK(origin_status(any, asked_as(host)) == 0);
    for (const char* host : {"router.example", "10.0.0.2:8765", "10.0.0"})
        CHECK(origin_status(any, asked_as(host)) == 403);
    std::string said;  // "localhost" is right but for the port
    try {
        loopback.check_origin(asked_as("localhost"));
    } catch (const Problem& problem) {
        said = problem.what();
    }
    CHECK(knn::test::contains(said, "with the port 8765"));
    CHECK(origin_status(six, asked_as("[::1]:8765")) == 0);
    CHECK(origin_status(six, asked_as("::1:8765")) == 403);
    CHECK(origin_status(lan, asked_as("10.0.0.2:8765")) == 0);
    CHECK(origin_status(lan, asked_as("localhost:8765")) == 403);
}

TEST_CASE("access: pages of other sites") {
    const Access access("127.0.0.1", 8765, "");
    const std::string host = "localhost:8765";
    CHECK(origin_status(access, asked_as(host, "http://localhost:8765", "same-origin")) == 0);
    CHECK(origin_status(access, asked_as(host, "", "none")) == 0);
    for (const char* origin : {"null", "http://localhost", "https://localhost:8765", "http://127.0.0.1:8765",
                               "http://evil.example", "http://localhost:8765.evil.example", "file://"})
        CHECK(origin_status(access, asked_as(host, origin)) == 403);
    for (const char* site : {"cross-site", "same-site", "anything"})
        CHECK(origin_status(access, asked_as(host, "", site)) == 403);
}

TEST_CASE("access: the token") {
    const Access open("127.0.0.1", 8765, ""), closed("127.0.0.1", 8765, "secret");
    Head head;
    CHECK(refusal([&] { open.check_token(head); }) == 0);
    CHECK(refusal([&] { closed.check_token(head); }) == 401);
    for (const char* wrong : {"", "secret", "Bearer", "Bearer ", "Bearer secre", "Bearer secret2",
                              "Bearer Secret", "Basic secret", "Bearersecret"}) {
        head.authorization = wrong;
        CHECK(refusal([&] { closed.check_token(head); }) == 401);
    }
    for (const char* right : {"Bearer secret", "bearer secret", "Bearer  secret"}) {
        head.authorization = right;
        CHECK(refusal([&] { closed.check_token(head); }) == 0);
    }
}

TEST_CASE("access: which addresses only this machine reaches") {
    for (const char* address : {"127.0.0.1", "127.9.9.9", "::1"})
        CHECK(Access::is_loopback(address));
    for (const char* address : {"0.0.0.0", "::", "10.0.0.2", "127.evil.example", "fe80::1"})
        CHECK(!Access::is_loopback(address));
}
