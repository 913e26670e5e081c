#include "app/console/notes.h"

#include "app/console/output.h"
#include "classifier/inventory.h"

namespace knn {

namespace {

std::string notice_of(const DataLocation& location, const std::string& synthetic) {
    std::string incomplete;
    for (const std::string& place : location.incomplete)
        incomplete += (incomplete.empty() ? "" : "; ") + place;
    if (!location.synthetic) return incomplete.empty() ? "" : incomplete + ": using " + location.source;
    if (location.looked_in.empty()) return "";  // the user asked for them
    return (incomplete.empty() ? "no data set found: "
                               : "no complete data set found (" + incomplete + "): ") +
           synthetic;
}

}  // namespace

std::string data_notice(const DataLocation& location) {
    return notice_of(location,
                     "using the built-in synthetic digits; 'mnist-knn info' tells how to get MNIST");
}

std::string data_notice_of_pictures(const DataLocation& location) {
    const std::string script = installed_fetch_script();
    return notice_of(
        location,
        "comparing with the built-in synthetic digits, by which a quarter of real digits are rejected; " +
            (script.empty() ? "tools/fetch_mnist.sh" : script) + " gets MNIST");
}

void note(const std::string& text) {
    if (!text.empty()) print_line_to_stderr("note: " + text);
}

void note(const std::string& text, const OutputOptions& output) {
    if (!output.quiet) note(text);
}

}  // namespace knn
