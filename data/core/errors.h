#pragma once
/// The exceptions of the program. Each message is one line that a user can act on, in the form
/// "FILE: what is wrong; what was expected"; only main() prints it and turns the type into an exit code.
///
/// A message of the library names a setting as §engine: whoever shows it writes it as users do there, as an option or as
/// an argument (`as_options` in app/console/console.h).

#include <stdexcept>

namespace knn {

/// A file or data set is missing, damaged or does not fit. Exit code 1.
struct DataError : std::runtime_error {
    using std::runtime_error::runtime_error;
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
