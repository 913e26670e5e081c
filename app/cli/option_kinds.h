#pragma once
/// Kinds of options: type, check and target of a value. `option` is the name as typed; bad values throw
/// UsageError.

#include <boost/program_options/value_semantic.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/cli/values.h"
#include "data/core/names.h"

namespace knn {

namespace po = boost::program_options;

using Reader = std::function<void(const std::string&)>;
using StringOption = po::typed_value<std::string>;

/// A text that `read` judges.
StringOption* value(const char* placeholder, Reader read);

/// A text that must not be empty: a file, a folder.
StringOption* text(const char* option, const char* placeholder, std::string& target);

/// A folder to be made, never standard output.
StringOption* folder(const char* option, std::string& target);

/// A picture to be written, see parse_picture_file.
StringOption* picture(const char* option, std::string& target, const std::vector<std::string>& endings);

/// A text that may be given more than once; `read` judges each, in their order.
po::typed_value<std::vector<std::string>>* several(const char* placeholder, Reader read);

template <class Number>
StringOption* number(const char* option, Number& target, std::int64_t low, std::int64_t high) {
    return value("N", [=, &target](const std::string& given) {
        target = static_cast<Number>(parse_integer(option, given, low, high));
    });
}

/// Whole numbers from 0 to `high`, one each time that the option is given; none twice.
po::typed_value<std::vector<std::string>>* numbers(const char* option, const char* placeholder,
                                                   std::vector<std::int64_t>& target, std::int64_t high);

/// One of the names of an enum's values.
template <class Enum>
Enum parse_choice(const char* option, const std::string& given) {
    const auto& list = Names<Enum>::list;
    const std::vector<std::string> names(list.begin(), list.end());
    return static_cast<Enum>(parse_name(option, given, names));
}
template <class Enum>
StringOption* choice(const char* option, const char* placeholder, Enum& target) {
    return value(placeholder,
                 [=, &target](const std::string& given) { target = parse_choice<Enum>(option, given); });
}
template <class Enum>
StringOption* choice(const char* option, const char* placeholder, std::optional<Enum>& target) {
    return value(placeholder,
                 [=, &target](const std::string& given) { target = parse_choice<Enum>(option, given); });
}

}  // namespace knn
