#pragma once
/// The page of `serve`: three files, which need no other.

#include <string_view>

namespace knn {

/// GET /, /app.css and /app.js: the files of app/serve/page/, embedded by CMake. The style sheet begins with that of the
/// report, the script with the helpers of its page.
extern const std::string_view serve_html, serve_css, serve_js;

}  // namespace knn
