#pragma once

#include <string>

#include "classifier/reduce.h"

namespace knn {

/// What `condense` reports.
struct ReducedReport {
    const Reduced& reduced;
    const Method& method;
    std::int64_t images;  ///< before
    std::string source, folder;
    double wall_ms;
};
std::string reduced_text(const ReducedReport& report);

}  // namespace knn
