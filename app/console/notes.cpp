#include "app/console/notes.h"

#include "app/console/output.h"

namespace knn {

std::string data_notice(const DataLocation& location) {
    std::string incomplete;
    for (const std::string& place : location.incomplete)
        incomplete += (incomplete.empty() ? "" : "; ") + place;
    if (!location.synthetic) return incomplete.empty() ? "" : incomplete + ": using " + location.source;
    if (location.looked_in.empty()) return "";  // the user asked for them
    return (incomplete.empty() ? "no data set found" : "no complete data set found (" + incomplete + ")") +
           ": using the built-in synthetic digits; 'mnist-knn info' tells how to get MNIST";
}

void note(const std::string& text) {
    if (!text.empty()) print_line_to_stderr("note: " + text);
}

void note(const std::string& text, const OutputOptions& output) {
    if (!output.quiet) note(text);
}

}  // namespace knn
