#include "app/report/json_part.h"

#include <algorithm>
#include <set>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/transfer.h"

namespace knn {

using nlohmann::json;

/// What the file says in place of a name may have a megabyte, or a NUL, which would end the message; an error has one line.
void JsonSource::fail(const std::string& what) const {
    constexpr std::size_t most = 200;
    const std::string shown = what.size() > most ? what.substr(0, most) + "..." : what;
    throw DataError(name + ": " + harmless(shown) + "; expected " + expected);
}

json JsonSource::parse(std::string_view text) const {
    constexpr int max_depth = 10;
    constexpr std::int64_t max_values = 5'000'000;
    if (text.empty()) fail("is empty");
    std::int64_t values = 0;
    std::vector<std::set<std::string>> keys;  // of the objects around a value
    const auto check = [&](int depth, json::parse_event_t event, const json& value) {
        throw_if_stopped();
        if (depth > max_depth || ++values > max_values) fail("has too many values, or too many levels");
        if (event == json::parse_event_t::object_start) keys.emplace_back();
        if (event == json::parse_event_t::object_end) keys.pop_back();
        if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
            fail("has " + value.get<std::string>() + " twice in one object");
        return true;
    };
    json root = json::parse(text, check, false);
    if (root.is_discarded()) fail("is not JSON, or is cut short");
    return root;
}

JsonPart JsonPart::at(const char* key) const {
    const std::string name = name_.empty() ? key : name_ + '.' + key;
    if (!has(key)) source_.fail("has no " + name);
    return {source_, value_[key], name};
}

std::vector<JsonPart> JsonPart::items() const {
    if (!value_.is_array()) wrong("no list");
    std::vector<JsonPart> parts;
    for (std::size_t i = 0; i < value_.size(); ++i)
        parts.emplace_back(source_, value_[i], name_ + '[' + std::to_string(i) + ']');
    return parts;
}

void JsonPart::check_schema(const std::string& schema) const {
    if (const std::string found = at("schema").text(); found != schema)
        source_.fail("its schema is '" + found + "', not '" + schema + "'");
}

void JsonPart::check_keys(std::initializer_list<std::string_view> known) const {
    if (!value_.is_object()) name_.empty() ? source_.fail("is no object") : wrong("no object");
    for (const auto& member : value_.items())
        if (std::ranges::find(known, member.key()) == known.end())
            source_.fail((name_.empty() ? "" : name_ + '.') + member.key() + " is unknown");
}

std::int64_t JsonPart::whole(std::int64_t low, std::int64_t high) const {
    const auto number = get<std::int64_t>(value_.is_number_integer(), "not an integer");
    const bool fits = !value_.is_number_unsigned() || value_.get<std::uint64_t>() <= std::uint64_t(any_whole);
    if (!fits || number < low || number > high)
        wrong("out of range: not " + (high == any_whole
                                          ? std::to_string(low) + " or more"
                                          : std::to_string(low) + " to " + std::to_string(high)));
    return number;
}

}  // namespace knn
