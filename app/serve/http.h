#pragma once
/// Requests and responses of HTTP as the routes see them, without sockets.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
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

/// Set once nobody waits for an answer any more; null: somebody always does.
using Abandoned = std::shared_ptr<const std::atomic<bool>>;
inline bool is_set(const Abandoned& abandoned) {
    return abandoned && *abandoned;
}

struct Request {
    Head head;
    std::string body;
    Abandoned abandoned = nullptr;
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

/// Why the work for an answer is not begun, or ends.
Problem nobody_waits();
/// Throws it if `abandoned` is set.
void throw_if(const Abandoned& abandoned);

/// The response, application/problem+json (RFC 9457).
Response problem_response(const Problem& problem);

/// The phrase of a status: "Not Found".
const char* phrase_of(int status);

/// The bytes to send. `keep_alive`: the connection stays open; `with_body`: false for HEAD.
std::string bytes_of(const Response& response, bool keep_alive, bool with_body);

class RequestReader {
  public:
    RequestReader();
    RequestReader(RequestReader&&) noexcept;
    RequestReader& operator=(RequestReader&&) noexcept;
    ~RequestReader();

    enum class Stage { head, body, whole };

    /// Takes what it can of the bytes, up to the end of the head or of the request, and returns how many; the rest is to be
    /// given again with what follows. Throws Problem: 400, 413 (more than max_body_bytes; if announced, once the head is read) or
    /// 431 (more than max_head_bytes of header fields, or of anything else beside the body).
    std::size_t take(std::string_view bytes);

    Stage stage() const { return stage_; }
    /// Once the stage is `body` or `whole`.
    const Head& head() const { return head_; }
    /// Bytes of the body that are there.
    std::size_t body_size() const;
    /// The whole request; the reader is then empty.
    Request release();

  private:
    struct Parser;

    void read_head();

    std::unique_ptr<Parser> parser_;
    Head head_;
    Stage stage_ = Stage::head;
};

}  // namespace knn::web
