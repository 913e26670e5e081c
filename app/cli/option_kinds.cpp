#include "app/cli/option_kinds.h"

#include <algorithm>

#include "data/core/errors.h"

namespace knn {

namespace {

void check_not_empty(const char* option, const std::string& given) {
    if (given.empty()) throw UsageError(as_given(option, given) + ": empty; expected a name");
}

}  // namespace

StringOption* value(const char* placeholder, Reader read) {
    return po::value<std::string>()->value_name(placeholder)->notifier(std::move(read));
}

StringOption* text(const char* option, const char* placeholder, std::string& target) {
    return value(placeholder, [option, &target](const std::string& given) {
        check_not_empty(option, given);
        target = given;
    });
}

StringOption* folder(const char* option, std::string& target) {
    return value("DIR", [option, &target](const std::string& given) {
        check_not_empty(option, given);
        if (given == "-")
            throw UsageError(as_given(option, given) +
                             ": several files are written; expected the name of a folder");
        target = given;
    });
}

StringOption* picture(const char* option, std::string& target, const std::vector<std::string>& endings) {
    return value("FILE", [=, &target](const std::string& given) {
        target = parse_picture_file(option, given, endings);
    });
}

po::typed_value<std::vector<std::string>>* several(const char* placeholder, Reader read) {
    return po::value<std::vector<std::string>>()
        ->composing()
        ->value_name(placeholder)
        ->notifier([read = std::move(read)](const std::vector<std::string>& given) {
            for (const std::string& one : given)
                read(one);
        });
}

po::typed_value<std::vector<std::string>>* numbers(const char* option, const char* placeholder,
                                                   std::vector<std::int64_t>& target, std::int64_t high) {
    return several(placeholder, [=, &target](const std::string& given) {
        const std::int64_t number = parse_integer(option, given, 0, high);
        if (std::find(target.begin(), target.end(), number) == target.end()) target.push_back(number);
    });
}

}  // namespace knn
