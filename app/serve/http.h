#pragma once
/// Requests and responses of HTTP as the routes see them, without sockets.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace knn::web {

// The limits of a request.
inline constexpr std::size_t max_body_bytes = 20'000'000;
inline constexpr std::size_t max_head_bytes = 64 * 1024;

/// What comes before the body.
struct Head {
    std::string method, path, query;  ///< of the target, before and after the first "?"
    /// Header fields; empty: absent.
    std::string host, origin, fetch_site, authorization, content_type, content_encoding;
    std::optional<std::uint64_t> content_length;
    bool chunked = false;
    bool expects_continue = false;
    bool keep_alive = false;  ///< the client wants another request on this connection
};

struct Request {
    Head head;
    std::string body;
};

struct Response {
    int status = 200;
    std::string type = "application/json";
    std::string body = {};
    std::vector<std::pair<std::string, std::string>> fields = {};  ///< beside those that all have
};

/// Why a request is refused: the status, and one sentence for the user.
struct Problem : std::runtime_error {
    Problem(int status_, const std::string& detail, std::string field_ = {}, std::string value_ = {})
        : std::runtime_error(detail), status(status_), field(std::move(field_)), value(std::move(value_)) {}

    int status;
    std::string field, value;  ///< a header field of the response: Retry-After, Allow
};

/// A request that may succeed after some seconds.
Problem try_later(int status, const std::string& detail, int seconds = 1);

/// The response, application/problem+json (RFC 9457).
Response problem_response(const Problem& problem);

/// The phrase of a status: "Not Found".
const char* phrase_of(int status);

/// The bytes to send. `keep_alive`: the connection stays open; `with_body`: false for HEAD.
std::string bytes_of(const Response& response, bool keep_alive, bool with_body);

}  // namespace knn::web
