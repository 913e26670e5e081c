#pragma once

#include <string>

namespace knn {

/// A distance kernel or a selector, as the command line, --help and `info` show it.
struct Strategy {
    std::string name, summary;
    bool on_gpu = true;
};

}  // namespace knn
