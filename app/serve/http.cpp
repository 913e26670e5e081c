#include "app/serve/http.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

namespace knn::web {

namespace {

/// What every response has. Nothing from elsewhere runs in the page, and no other page may read or frame it.
constexpr const char* fields_of_all =
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: "
    "blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: same-origin\r\n"
    "X-Content-Type-Options: nosniff\r\n";

/// RFC 9110, 5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT". The program never sets another locale than "C".
std::string date_now() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    char text[40];
    return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc)};
}

}  // namespace

Problem try_later(int status, const std::string& detail, int seconds) {
    return Problem(status, detail, "Retry-After", std::to_string(seconds));
}

Problem nobody_waits() {
    return try_later(503, "The client has closed its side of the connection.");
}

void throw_if(const Abandoned& abandoned) {
    if (is_set(abandoned)) throw nobody_waits();
}

Response problem_response(const Problem& problem) {
    const nlohmann::ordered_json body = {{"type", "about:blank"},
                                         {"title", phrase_of(problem.status)},
                                         {"status", problem.status},
                                         {"detail", problem.what()}};
    Response response{problem.status, "application/problem+json",
                      body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n'};
    if (!problem.field.empty()) response.fields.emplace_back(problem.field, problem.value);
    return response;
}

const char* phrase_of(int status) {
    static constexpr std::pair<int, const char*> phrases[] = {
        {200, "OK"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {411, "Length Required"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
    };
    const auto* const found = std::ranges::find(phrases, status, &std::pair<int, const char*>::first);
    return found == std::end(phrases) ? "" : found->second;
}

std::string bytes_of(const Response& response, bool keep_alive, bool with_body) {
    std::string text;
    text.reserve(1024 + response.body.size());
    text += "HTTP/1.1 " + std::to_string(response.status) + ' ' + phrase_of(response.status);
    text += "\r\nDate: " + date_now();
    text += "\r\nContent-Type: " + response.type;
    text += "\r\nContent-Length: " + std::to_string(response.body.size());
    text += keep_alive ? "\r\nConnection: keep-alive\r\n" : "\r\nConnection: close\r\n";
    for (const auto& [name, value] : response.fields)
        text += name + ": " + value + "\r\n";
    text += fields_of_all;
    text += "\r\n";
    if (with_body) text += response.body;
    return text;
}

}  // namespace knn::web
