#pragma once
/// Checks responses against an OpenAPI description: the parts of JSON Schema that it uses.

#include <nlohmann/json.hpp>
#include <string>

namespace knn::test {

/// What is wrong with a response to `operation`, an object of the description; empty: nothing.
std::string mistake_of_response(const nlohmann::json& description, const nlohmann::json& operation,
                                int status, const std::string& type, const std::string& body);

/// What is wrong with a value by a schema; `where`: its place. References are to `description`. Throws std::runtime_error for a
/// keyword that this does not know.
std::string mistake_of_value(const nlohmann::json& description, const nlohmann::json& schema,
                             const nlohmann::json& value, const std::string& where = "");

}  // namespace knn::test
