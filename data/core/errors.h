#pragma once
/// The exceptions of the program. Each message is one line that a user can act on, in the form
/// "FILE: what is wrong; what was expected"; only main() prints it and turns the type into an exit code.
///
/// A message of the library names a setting as §engine: whoever shows it writes it as users do there, as an option or as
/// an argument (`as_options` in app/console/console.h).

#include <stdexcept>
#include <string_view>

namespace knn {

inline constexpr std::string_view setting_mark = "§";

/// The name of the setting whose mark begins at `at`; empty where a name of a file has the mark: no colon follows a setting.
constexpr std::string_view setting_at(std::string_view message, std::size_t at) {
    if (!message.substr(at).starts_with(setting_mark) || (at > 0 && message[at - 1] != ' ')) return {};
    const std::string_view text = message.substr(at + setting_mark.size());
    const std::size_t size = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-");
    return size == text.npos || std::string_view(" ,;)").find(text[size]) != text.npos ? text.substr(0, size)
                                                                                       : std::string_view();
}

/// A file or data set is missing, damaged or does not fit. Exit code 1.
struct DataError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What was asked for needs more memory than is free. Exit code 1.
struct MemoryError : DataError {
    using DataError::DataError;
};

/// A GPU is missing, too small, or a CUDA call failed. Exit code 1.
struct DeviceError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The command line is wrong. Exit code 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The user asked to stop (Ctrl-C). Exit code 130.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace knn
