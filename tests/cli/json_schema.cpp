#include "tests/cli/json_schema.h"
#include "tests/support/test.h"

#include <regex>

using nlohmann::json;

namespace knn::test {

namespace {

const json& resolved(const json& description, const json& object) {
    if (!object.contains("$ref")) return object;
    return resolved(description,
                    description.at(json::json_pointer(object["$ref"].get<std::string>().substr(1))));
}

bool is_of_type(const json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    throw std::runtime_error("unknown type " + type);
}

std::string mistake_of_members(const json& description, const json& schema, const json& value,
                               const std::string& where) {
    const json properties = schema.value("properties", json::object());
    const json more = schema.value("additionalProperties", json(true));
    for (const auto& name : schema.value("required", json::array()))
        if (!value.contains(name)) return where + ": lacks " + name.get<std::string>();
    for (const auto& [name, member] : value.items()) {
        const std::string place = where + "/" + name;
        std::string wrong;
        if (properties.contains(name))
            wrong = mistake_of_value(description, properties[name], member, place);
        else if (more.is_object())
            wrong = mistake_of_value(description, more, member, place);
        else if (!more.get<bool>())
            wrong = place + ": is not described";
        if (!wrong.empty()) return wrong;
    }
    return "";
}

}  // namespace

std::string mistake_of_value(const json& description, const json& given, const json& value,
                             const std::string& where) {
    const json& schema = resolved(description, given);
    for (const auto& [keyword, argument] : schema.items()) {
        bool fits = true;
        if (keyword == "type") {
            const json types = argument.is_array() ? argument : json::array({argument});
            fits = std::ranges::any_of(types, [&](const json& type) { return is_of_type(value, type); });
        } else if (keyword == "const") {
            fits = value == argument;
        } else if (keyword == "enum") {
            fits = std::ranges::count(argument, value) > 0;
        } else if (keyword == "minimum") {
            fits = !value.is_number() || value >= argument;
        } else if (keyword == "maximum") {
            fits = !value.is_number() || value <= argument;
        } else if (keyword == "minItems") {
            fits = !value.is_array() || value.size() >= argument;
        } else if (keyword == "maxItems") {
            fits = !value.is_array() || value.size() <= argument;
        } else if (keyword == "pattern") {
            fits = !value.is_string() ||
                   std::regex_search(value.get<std::string>(), std::regex(argument.get<std::string>()));
        } else if (keyword == "anyOf") {
            fits = std::ranges::any_of(argument, [&](const json& one) {
                return mistake_of_value(description, one, value, where).empty();
            });
        } else if (keyword == "items" && value.is_array()) {
            for (std::size_t i = 0; i < value.size(); ++i) {
                const std::string wrong =
                    mistake_of_value(description, argument, value[i], where + "/" + std::to_string(i));
                if (!wrong.empty()) return wrong;
            }
        } else if (keyword != "items" && keyword != "properties" && keyword != "required" &&
                   keyword != "additionalProperties" && keyword != "description") {
            throw std::runtime_error("unknown keyword " + keyword);
        }
        if (!fits)
            return where + ": is not as " + keyword + " " + argument.dump() +
                   " says: " + value.dump().substr(0, 200);
    }
    return value.is_object() ? mistake_of_members(description, schema, value, where) : "";
}

std::string mistake_of_response(const json& description, const json& operation, int status,
                                const std::string& type, const std::string& body) {
    const json& responses = operation.at("responses");
    const std::string key = std::to_string(status);
    if (!responses.contains(key) && !responses.contains("default"))
        return "status " + key + " is not described";
    const json& response =
        resolved(description, responses.contains(key) ? responses[key] : responses["default"]);
    const std::string kind = type.substr(0, type.find(';'));
    const json& content = response.at("content");
    if (!content.contains(kind)) return "type " + kind + " is not described for " + key;
    const bool is_json = kind.ends_with("json");
    return mistake_of_value(description, content[kind]["schema"], is_json ? json::parse(body) : json(body));
}

}  // namespace knn::test
