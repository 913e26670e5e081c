#include "app/serve/http.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <limits>

namespace knn::web {

namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

[[noreturn]] void refuse(const beast::error_code& error) {
    if (error == http::error::body_limit) throw Problem(413, "The body has more than 20 MB.");
    if (error == http::error::header_limit) throw Problem(431, "The header fields have more than 64 KiB.");
    throw Problem(400, "The request is not valid HTTP/1.1: " + error.message() + ".");
}

std::string text(beast::string_view view) {
    return {view.data(), view.size()};
}

}  // namespace

struct RequestReader::Parser : http::request_parser<http::string_body> {
    Parser() {
        header_limit(max_head_bytes);
        body_limit(std::numeric_limits<std::uint64_t>::max());  // until the head is read
    }
};

RequestReader::RequestReader() : parser_(std::make_unique<Parser>()) {}
RequestReader::RequestReader(RequestReader&&) noexcept = default;
RequestReader& RequestReader::operator=(RequestReader&&) noexcept = default;
RequestReader::~RequestReader() = default;

std::size_t RequestReader::take(std::string_view bytes) {
    std::size_t taken = 0;
    if (stage_ == Stage::body && head_.content_length.value_or(0) > max_body_bytes)
        refuse(http::error::body_limit);
    if (!parser_->got_some())  // empty lines may come before a request (RFC 9112, 2.2)
        taken = std::min(bytes.find_first_not_of("\r\n"), bytes.size());
    while (stage_ != Stage::whole && taken < bytes.size()) {
        beast::error_code error;
        const std::size_t got =
            parser_->put(boost::asio::buffer(bytes.data() + taken, bytes.size() - taken), error);
        taken += got;
        const bool needs_more = error == http::error::need_more;
        if (error && !needs_more) refuse(error);
        if (stage_ == Stage::head && parser_->is_header_done()) {
            read_head();
            parser_->eager(true);
            parser_->body_limit(max_body_bytes);
            stage_ = parser_->is_done() ? Stage::whole : Stage::body;
            return taken;
        }
        if (parser_->is_done()) stage_ = Stage::whole;
        if (got == 0 || needs_more) break;
    }
    // The parser keeps no part of a line: that of a chunk's extension or a trailer could grow without end.
    if (stage_ != Stage::whole && bytes.size() - taken > max_head_bytes) refuse(http::error::header_limit);
    return taken;
}

void RequestReader::read_head() {
    const auto& message = parser_->get();
    head_.method = text(message.method_string());  // also of a request that is refused
    std::string target = text(message.target()), host = text(message[http::field::host]);
    if (message.count(http::field::host) != 1)
        throw Problem(400, "The request has no Host field, or several; expected one.");
    if (message.count(http::field::origin) > 1 || message.count(http::field::authorization) > 1 ||
        message.count(http::field::content_type) > 1)
        throw Problem(400, "A header field of the request is there twice; expected it once.");
    constexpr std::string_view scheme = "http://";
    if (beast::iequals(message.target().substr(0, scheme.size()), {scheme.data(), scheme.size()})) {
        // The absolute form, whose host counts (RFC 9112, 3.2.2).
        const std::size_t path = std::min(target.find_first_of("/?", scheme.size()), target.size());
        host = target.substr(scheme.size(), path - scheme.size());
        target.erase(0, path);
        if (!target.starts_with('/')) target.insert(0, "/");
    }
    if (target.empty() || target[0] != '/')
        throw Problem(400, "The target of the request does not begin with a slash; expected a path.");
    const std::string coding = text(message[http::field::transfer_encoding]);
    if (!coding.empty() && !beast::iequals(coding, "chunked"))
        throw Problem(400,
                      "The request has a transfer coding other than chunked; expected this one or none.");
    const std::size_t end = target.find('?');
    head_ = {.method = head_.method,
             .path = target.substr(0, end),
             .query = end == target.npos ? "" : target.substr(end + 1),
             .host = host,
             .origin = text(message[http::field::origin]),
             .fetch_site = text(message["Sec-Fetch-Site"]),
             .authorization = text(message[http::field::authorization]),
             .content_type = text(message[http::field::content_type]),
             .content_encoding = text(message[http::field::content_encoding]),
             .content_length = {},
             .chunked = parser_->chunked(),
             .expects_continue =
                 message.version() >= 11 && beast::iequals(message[http::field::expect], "100-continue"),
             // Of chunks a proxy of HTTP/1.0 may know nothing (RFC 9112, 6.1).
             .keep_alive = parser_->keep_alive() && (message.version() >= 11 || !parser_->chunked())};
    if (const auto length = parser_->content_length()) head_.content_length = *length;
}

std::size_t RequestReader::body_size() const {
    return parser_->get().body().size();
}

Request RequestReader::release() {
    Request request{std::move(head_), std::move(parser_->get().body())};
    *this = RequestReader();
    return request;
}

}  // namespace knn::web
