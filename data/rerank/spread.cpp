#include "data/rerank/spread.h"

#include <algorithm>
#include <cmath>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/transform/rounding.h"

namespace knn {

namespace {

constexpr int point = 24;               ///< bits behind the point of a factor
constexpr std::uint64_t unit = 16;      ///< of distances in ClassDistances
constexpr std::uint64_t farthest = 16;  ///< r / m is at most this, at least its reciprocal

/// q^(weight / 8), 0 <= weight <= 8.
std::uint64_t power(std::uint64_t q, int weight) {
    std::uint64_t product = std::uint64_t{1} << point;
    for (int part = spread_weight_parts; part > 0; part /= 2, q = whole_root(q << point))
        if (weight & part) product = product * q >> point;
    return product;
}

template <class Enum>
Enum read_name(std::string_view text, const auto& refuse) {
    const auto value = named<Enum>(text);
    if (!value) refuse(text, std::string(name_list<Enum>[0]) + " or " + name_list<Enum>[1]);
    return *value;
}

template <class Number>
Number read_number(std::string_view text, Number low, Number high, const auto& refuse) {
    const auto number = number_of<Number>(text);
    if (!number || !(*number >= low && *number <= high))
        refuse(text, shortest(low) + " to " + shortest(high));
    return *number;
}

}  // namespace

std::string spread_parameters(const LocalScaling& spread) {
    if (spread == LocalScaling{}) return {};
    return ':' + std::to_string(spread.neighbors) + ':' + name(spread.of) + ':' + name(spread.by) + ':' +
           shortest(static_cast<double>(spread.weight) / spread_weight_parts);
}

LocalScaling parse_spread(std::string_view option, std::string_view parameters) {
    const auto refuse = [&](std::string_view part, const std::string& expected) {
        throw UsageError(std::string(option) + " spread:" + std::string(parameters) + ": '" +
                         std::string(part) + "' is not allowed; expected " + expected +
                         ", as in spread:7:mean:times:-0.375");
    };
    LocalScaling spread;
    int place = 0;
    for (std::size_t begin = 0; begin <= parameters.size(); ++place) {
        const std::size_t end = std::min(parameters.find(':', begin), parameters.size());
        const std::string_view part = parameters.substr(begin, end - begin);
        begin = end + 1;
        if (place == 0) {
            spread.neighbors = read_number(part, 1, max_spread_neighbors, refuse);
        } else if (place == 1) {
            spread.of = read_name<SpreadOf>(part, refuse);
        } else if (place == 2) {
            spread.by = read_name<Scaling>(part, refuse);
        } else if (place == 3) {
            const double weight = spread_weight_parts * read_number(part, -1.0, 1.0, refuse);
            if (weight != std::floor(weight)) refuse(part, "a multiple of 0.125");
            spread.weight = static_cast<int>(weight);
        } else {
            refuse(part, "at most four parameters");
        }
    }
    return spread;
}

std::optional<ClassDistances> class_distances(SpreadOf of, std::span<const Neighbor> nearest) {
    if (nearest.empty()) return std::nullopt;
    const std::uint64_t n = nearest.size();
    std::uint64_t sum = 0, squares = 0;
    for (const Neighbor& one : nearest)
        sum += one.distance;
    const std::uint64_t mean = sum / n;
    for (const Neighbor& one : nearest) {
        const std::uint64_t difference = one.distance > mean ? one.distance - mean : mean - one.distance;
        squares += difference * difference / n;
    }
    return ClassDistances{unit * mean, unit * (of == SpreadOf::mean ? mean : whole_root(squares))};
}

std::vector<std::int64_t> spread_terms(const LocalScaling& spread,
                                       std::span<const std::optional<ClassDistances>> images) {
    ClassDistances usual;
    std::uint64_t known = 0;
    for (const auto& image : images)
        if (image) {
            usual.mean += image->mean;
            usual.size += image->size;
            ++known;
        }
    const std::uint64_t m = known > 0 ? std::max<std::uint64_t>(usual.size / known, 1) : 1;
    const std::uint64_t typical = known > 0 ? usual.mean / known / unit : 0;
    std::vector<std::int64_t> terms;
    terms.reserve(images.size());
    for (const auto& image : images) {
        const std::uint64_t r =
            image ? std::clamp(image->size, (m + farthest - 1) / farthest, farthest * m) : m;
        const std::uint64_t up = (r << point) / m, down = (m << point) / r;
        if (spread.by == Scaling::times) {
            terms.push_back(static_cast<std::int64_t>(spread.weight < 0 ? power(down, -spread.weight)
                                                                        : power(up, spread.weight)));
            continue;
        }
        const auto more =
            static_cast<std::int64_t>(typical * up >> point) - static_cast<std::int64_t>(typical);
        terms.push_back(spread.weight * more / spread_weight_parts);
    }
    return terms;
}

std::uint32_t scaled_by_spread(Scaling by, std::uint32_t distance, std::int64_t term) {
    const std::int64_t scaled =
        by == Scaling::times ? distance * term >> point : std::int64_t{distance} + term;
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(scaled, 0, excluded_distance - 1));
}

}  // namespace knn
