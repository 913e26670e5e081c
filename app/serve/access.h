#pragma once
/// Who may ask: the names of this server, pages of its own, and the token.

#include <string>
#include <string_view>

#include "app/serve/http.h"

namespace knn::web {

/// The names by which browsers may know this server. A page of another site reaches it under a name of that site, which was
/// made to point here (DNS rebinding), and every name but "localhost" may be such a one; numeric addresses are not.
class Access {
  public:
    /// `address`: numeric, where the server listens. An empty token: none is asked for.
    Access(const std::string& address, int port, std::string token);

    /// Throws Problem (403) for a Host that is no name of this server, and for a page of another origin, which the browser
    /// tells in Origin or Sec-Fetch-Site.
    void check_origin(const Head& head) const;
    /// Throws Problem (401) unless the Authorization field is "Bearer TOKEN".
    void check_token(const Head& head) const;
    /// The same of a token in a form.
    void check_token(std::string_view given) const;

    /// Whether only this machine reaches the address.
    static bool is_loopback(const std::string& address);

  private:
    bool is_own(const std::string& host) const;

    std::string address_;
    bool any_address_, loopback_;
    std::string port_, token_;
};

}  // namespace knn::web
