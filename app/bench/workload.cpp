#include "app/bench/workload.h"

#include <algorithm>

#include "cpu/search.h"
#include "cpu/serial/serial.h"

namespace knn {

namespace {

std::string difference(std::int64_t query, std::int64_t rank, const Neighbor& found, const Neighbor& right) {
    const auto text = [](const Neighbor& one) {
        return "image " + std::to_string(one.index) + " at " + std::to_string(one.distance);
    };
    return "query " + std::to_string(query) + ", rank " + std::to_string(rank + 1) + ": " + text(found) +
           "; expected " + text(right);
}

}  // namespace

Workload::Workload(const Rows& train, const Rows& query, std::span<const std::uint8_t> labels, int max_k)
    : train_(train), query_(query), labels_(labels), max_k_(max_k) {}

Workload::Workload(std::int64_t n_train, std::int64_t n_query, std::int64_t dim, int max_k,
                   std::uint64_t seed)
    : pixels_(static_cast<std::size_t>((n_train + n_query) * dim)),
      own_labels_(static_cast<std::size_t>(n_train)),
      max_k_(max_k) {
    constexpr std::size_t bytes = 8;  // of one random number
    for (std::size_t i = 0; i < pixels_.size(); i += bytes) {
        const std::uint64_t value = random_value(seed, i);
        for (std::size_t b = 0; b < bytes && i + b < pixels_.size(); ++b)
            pixels_[i + b] = static_cast<std::uint8_t>(value >> (8 * b));
    }
    train_ = {pixels_.data(), n_train, dim};
    query_ = {pixels_.data() + n_train * dim, n_query, dim};
    labels_ = own_labels_;
}

std::string Workload::mismatch(const Neighbors& found) const {
    for (std::int64_t row = 0; row < expected.n_query && query_of(row) < found.n_query; ++row) {
        const std::int64_t q = query_of(row);
        const auto mine = found.row(q), right = expected.row(row);
        for (std::size_t i = 0; i < std::min(mine.size(), right.size()); ++i)
            if (mine[i] != right[i]) return difference(q, static_cast<std::int64_t>(i), mine[i], right[i]);
    }
    return "";
}

std::string Workload::mismatch(std::int64_t query, std::span<const std::uint32_t> row) const {
    const std::vector<std::uint32_t> right = right_row(query);
    for (std::size_t t = 0; t < right.size(); ++t)
        if (row[t] != right[t])
            return "query " + std::to_string(query) + ", training image " + std::to_string(t) + ": " +
                   std::to_string(row[t]) + "; expected " + std::to_string(right[t]);
    return "";
}

/// By plain loops; metrics that these do not support, by the CPU engine with k = the size of each piece of
/// the training set.
std::vector<std::uint32_t> Workload::right_row(std::int64_t query) const {
    std::vector<std::uint32_t> row(static_cast<std::size_t>(train_.count));
    if (measure.metric == Metric::l2) {
        cpu::serial_distances(train_, query_.row(query), row);
        if (exclude.any()) row[static_cast<std::size_t>(exclude.index_of(query))] = excluded_distance;
        return row;
    }
    for (std::int64_t begin = 0; begin < train_.count; begin += knn::max_k) {
        const std::int64_t n = std::min<std::int64_t>(knn::max_k, train_.count - begin);
        const Neighbors piece =
            search_on_cpu(train_.slice(begin, n), query_.slice(query, 1), static_cast<int>(n), measure);
        for (const Neighbor& found : piece.rows)
            row[static_cast<std::size_t>(begin + found.index)] = found.distance;
    }
    return row;
}

std::uint64_t random_value(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t x = (seed << 48) + (index + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

std::vector<std::int64_t> sample(std::int64_t n, std::int64_t max_count) {
    std::vector<std::int64_t> indices;
    const std::int64_t count = std::min(n, max_count);
    for (std::int64_t i = 0; i < count; ++i)
        indices.push_back(count > 1 ? i * (n - 1) / (count - 1) : 0);
    return indices;
}

}  // namespace knn
