#pragma once
/// The description of the routes, OpenAPI 3.1: app/serve/openapi.json, embedded by CMake.

#include <string_view>

namespace knn {

extern const std::string_view openapi_json;

}  // namespace knn
