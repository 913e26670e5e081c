#include "app/serve/routes.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>

namespace knn::web {

namespace {

bool is_v4(const std::string& text) {
    in_addr address{};
    return ::inet_pton(AF_INET, text.c_str(), &address) == 1;
}

bool is_v6(const std::string& text) {
    in6_addr address{};
    return ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

/// Takes the same time for every text of one length.
bool equal(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        difference |= static_cast<unsigned char>(a[i] ^ b[i]);
    return difference == 0;
}

std::string in_small_letters(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
}

}  // namespace

bool Access::is_loopback(const std::string& address) {
    return address == "::1" || (is_v4(address) && address.starts_with("127."));
}

Access::Access(const std::string& address, int port, std::string token)
    : address_(address),
      any_address_(address == "0.0.0.0" || address == "::"),
      loopback_(is_loopback(address)),
      port_(std::to_string(port)),
      token_(std::move(token)) {}

bool Access::is_own(const std::string& host) const {
    const std::size_t colon = host.rfind(':');
    const bool has_port = colon != host.npos && host.find(']', colon) == host.npos;
    if ((has_port ? host.substr(colon + 1) : "80") != port_) return false;
    std::string name = host.substr(0, has_port ? colon : host.npos);
    const bool bracketed = name.size() > 2 && name.front() == '[' && name.back() == ']';
    if (bracketed) name = name.substr(1, name.size() - 2);
    if (bracketed ? !is_v6(name) : !is_v4(name))
        return in_small_letters(name) == "localhost" && (loopback_ || any_address_);
    return any_address_ || name == address_;
}

void Access::check_origin(const Head& head) const {
    if (!is_own(head.host))
        throw Problem(403,
                      "The server is not known by this name; expected its numeric address, or localhost, "
                      "with the port " +
                          port_ + ".");
    const bool own =
        head.origin.empty() || in_small_letters(head.origin) == "http://" + in_small_letters(head.host);
    const bool own_site =
        head.fetch_site.empty() || head.fetch_site == "same-origin" || head.fetch_site == "none";
    if (!own || !own_site) throw Problem(403, "The request comes from a page of another site.");
}

void Access::check_token(const Head& head) const {
    constexpr std::string_view scheme = "bearer ";
    const std::string given = in_small_letters(head.authorization.substr(0, scheme.size()));
    const std::string_view token =
        given == scheme ? std::string_view(head.authorization).substr(scheme.size()) : std::string_view();
    if (!token_.empty() && !equal(token, token_))
        throw Problem(401, "The request has no token, or a wrong one.", "WWW-Authenticate", "Bearer");
}

}  // namespace knn::web
