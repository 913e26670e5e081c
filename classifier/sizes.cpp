#include "classifier/sizes.h"

#include <algorithm>
#include <cmath>

#include "data/core/metric.h"

namespace knn {

namespace {

constexpr double clearly_nearer = 0.97;

/// Of the nearest five at most; where the metric is a square, not squared.
double mean_distance(const SearchRequest& request, std::span<const Neighbor> neighbors) {
    const auto nearest = neighbors.first(std::min<std::size_t>(neighbors.size(), 5));
    const bool square = request.metric != Metric::l1 && request.metric != Metric::lp;
    double sum = 0;
    for (const Neighbor& neighbor : nearest) {
        const double distance = distance_of(request.metric, request.p, neighbor.distance);
        sum += square ? std::sqrt(distance) : distance;
    }
    return sum / static_cast<double>(nearest.size());
}

}  // namespace

std::vector<std::uint8_t> rows_to_search(std::span<DigitImage* const> digits) {
    std::vector<std::uint8_t> rows;
    for (const DigitImage* digit : digits) {
        rows.insert(rows.end(), digit->pixels.begin(), digit->pixels.end());
        if (digit->smaller) rows.insert(rows.end(), digit->smaller->begin(), digit->smaller->end());
    }
    return rows;
}

std::vector<std::int64_t> choose_sizes(std::span<DigitImage* const> digits, const SearchRequest& request,
                                       const Neighbors& found) {
    std::vector<std::int64_t> chosen;
    std::int64_t row = 0;
    for (DigitImage* digit : digits) {
        chosen.push_back(row);
        if (digit->smaller) {
            const double usual = mean_distance(request, found.row(row));
            const double smaller = mean_distance(request, found.row(++row));
            if (smaller < clearly_nearer * usual) {
                chosen.back() = row;
                digit->pixels = *digit->smaller;
            }
            digit->smaller.reset();
        }
        ++row;
    }
    return chosen;
}

}  // namespace knn
