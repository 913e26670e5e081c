#pragma once
/// The kinds of options, for the table: what the value is called, its check and its target. A bad value is a UsageError.

#include <algorithm>
#include <type_traits>

#include "app/cli/option_table.h"
#include "app/cli/values.h"

namespace knn {

inline OptionValue flag(bool& target) {
    return {nullptr, [&target](auto&, auto&) { target = true; }};
}

/// `parse` returns the value of the target, or is `parse(option, value, target)`.
template <class Target, class Parse>
OptionValue once(const char* placeholder, Target& target, Parse parse) {
    return {placeholder, [&target, parse](const std::string& option, const std::string& value) {
                if constexpr (std::is_invocable_v<Parse, const std::string&, const std::string&, Target&>)
                    parse(option, value, target);
                else
                    target = static_cast<Target>(parse(option, value));
            }};
}

/// May be given more than once: each time a value is appended.
template <class Value, class Parse>
OptionValue several(const char* placeholder, std::vector<Value>& target, Parse parse) {
    return {placeholder,
            [&target, parse](const std::string& option, const std::string& value) {
                Value added{};
                once(nullptr, added, parse).read(option, value);
                if (std::find(target.begin(), target.end(), added) == target.end()) target.push_back(added);
            },
            true};
}

/// The name of a file or folder that is read.
inline OptionValue input(const char* placeholder, std::string& target) {
    return once(placeholder, target, parse_input);
}

/// The name of what is written.
template <class Parse>
OptionValue written(const char* placeholder, std::string& target, Parse parse) {
    OptionValue value = once(placeholder, target, parse);
    value.output = &target;
    return value;
}

/// A file that is written; "-" is standard output.
inline OptionValue output(std::string& target) {
    return written("FILE", target, parse_file_name);
}

/// A picture that is written, see parse_picture_file.
inline OptionValue picture(std::string& target, const char* ending) {
    return written("FILE", target,
                   [=](auto& option, auto& value) { return parse_picture_file(option, value, ending); });
}

/// A folder that gets these files.
inline OptionValue folder(std::string& target, std::span<const char* const> names, OwnFile own = {}) {
    OptionValue value = written("DIR", target, parse_folder_name);
    value.is_folder = true;
    value.names = names;
    value.own = own;
    return value;
}

/// A whole number.
template <class Number>
OptionValue number(Number& target, std::int64_t low = 1, std::int64_t high = unlimited) {
    return once("N", target,
                [=](auto& option, auto& value) { return parse_integer(option, value, low, high); });
}

/// Whole numbers from 0 to `high`, one each time that the option is given.
inline OptionValue numbers(const char* placeholder, std::vector<std::int64_t>& target, std::int64_t high) {
    return several(placeholder, target,
                   [=](auto& option, auto& value) { return parse_integer(option, value, 0, high); });
}

/// One of these names.
template <class Target>
OptionValue name_of(const std::vector<std::string>& names, Target& target) {
    return once("NAME", target,
                [names](auto& option, auto& value) { return names[parse_name(option, value, names)]; });
}

/// One of the names of an enum's values.
template <class Enum>
Enum parse_choice(const std::string& option, const std::string& value) {
    const auto& list = name_list<Enum>;
    return static_cast<Enum>(parse_name(option, value, std::vector<std::string>(list.begin(), list.end())));
}
template <class Enum>
OptionValue choice(Enum& target, const char* placeholder = "NAME") {
    return once(placeholder, target, parse_choice<Enum>);
}
}  // namespace knn
