#include "app/report/test_checksum.h"

#include "data/core/sha256.h"

namespace knn {

std::string test_checksum(const LabeledImages& set, std::int64_t n) {
    const std::string size =
        std::to_string(n) + ' ' + std::to_string(set.rows) + ' ' + std::to_string(set.cols) + '\n';
    Sha256 sum;
    sum.add(size.data(), size.size());
    sum.add(set.pixels.data(), static_cast<std::size_t>(n * set.dim()));
    sum.add(set.labels.data(), static_cast<std::size_t>(n));
    return sum.hex();
}

}  // namespace knn
