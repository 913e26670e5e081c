#pragma once
/// The page of `serve`, three files, which need no other, and the description of the routes, OpenAPI 3.1; embedded by CMake.

#include <string_view>

namespace knn {

/// GET /, /app.css and /app.js: the files of app/serve/page/. The style sheet begins with that of the
/// report, the script with the helpers of its page.
extern const std::string_view serve_html, serve_css, serve_js;
/// app/serve/openapi.json.
extern const std::string_view openapi_json;

}  // namespace knn
