#pragma once
/// JSON that a user gives: everything is checked, and an error names the file and the part.

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "data/core/names.h"

namespace knn {

inline constexpr std::int64_t any_whole = std::numeric_limits<std::int64_t>::max();

struct JsonSource {
    std::string name;      ///< of the file, for messages
    std::string expected;  ///< "a report.json of 'mnist-knn evaluate'"

    /// Throws DataError.
    [[noreturn]] void fail(const std::string& what) const;
    /// Throws DataError unless `text` is JSON of at most 5,000,000 values in at most ten levels, of which no object has a key
    /// twice; a value takes up to a hundred times the memory of its text.
    nlohmann::json parse(std::string_view text) const;
};

/// A part of such a file, and its path. What it is not throws DataError. Refers to the source and the value.
class JsonPart {
  public:
    JsonPart(const JsonSource& source, const nlohmann::json& value, std::string name = "")
        : source_(source), value_(value), name_(std::move(name)) {}

    bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
    JsonPart at(const char* key) const;
    std::vector<JsonPart> items() const;
    /// Throws DataError unless the member `schema` says this.
    void check_schema(const std::string& schema) const;
    /// Throws DataError if it has another member.
    void check_keys(std::initializer_list<std::string_view> known) const;
    bool is_text() const { return value_.is_string(); }
    std::string text() const { return get<std::string>(value_.is_string(), "not a string"); }
    bool yes() const { return get<bool>(value_.is_boolean(), "neither true nor false"); }
    double number() const { return get<double>(value_.is_number(), "not a number"); }
    std::int64_t whole(std::int64_t low, std::int64_t high) const;
    [[noreturn]] void wrong(const std::string& what) const { source_.fail(name_ + " is " + what); }

    std::string text_or_none(const char* key) const { return has(key) ? at(key).text() : ""; }
    template <class Enum>
    Enum named_value() const {
        const auto value = named<Enum>(text());
        if (!value) wrong("'" + text() + "', which is unknown");
        return *value;
    }

  private:
    template <class Value>
    Value get(bool fits, const char* else_it_is) const {
        if (!fits) wrong(else_it_is);
        return value_.get<Value>();
    }

    const JsonSource& source_;
    const nlohmann::json& value_;
    std::string name_;
};

}  // namespace knn
