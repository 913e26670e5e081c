#include "classifier/sizes.h"

#include "classifier/vote.h"

namespace knn {

namespace {

constexpr double clearly_nearer = 0.97;

}  // namespace

std::vector<std::uint8_t> rows_to_search(std::span<DigitImage* const> digits) {
    std::vector<std::uint8_t> rows;
    for (const DigitImage* digit : digits) {
        rows.insert(rows.end(), digit->pixels.begin(), digit->pixels.end());
        if (digit->smaller) rows.insert(rows.end(), digit->smaller->begin(), digit->smaller->end());
    }
    return rows;
}

std::vector<std::int64_t> choose_sizes(std::span<DigitImage* const> digits, const Measure& measure,
                                       const Neighbors& found) {
    std::vector<std::int64_t> chosen;
    std::int64_t row = 0;
    for (DigitImage* digit : digits) {
        chosen.push_back(row);
        if (digit->smaller) {
            const double usual = mean_distance(found.row(row), measure);
            const double smaller = mean_distance(found.row(++row), measure);
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
