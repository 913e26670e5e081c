#pragma once
/// Oracle of searches among rows that are not uint8: the definition of data/core/exact_distance.h once more, in plain loops over one
/// array of terms, and the same in extended precision.

#include <string>
#include <vector>

#include "data/core/exact_distance.h"
#include "data/core/neighbors.h"

namespace knn::test {

/// Rows of one type, which it owns.
struct RealSet {
    std::string name = {};
    std::vector<std::uint8_t> bytes = {};
    std::int64_t n = 0, dim = 0;
    ElementType type = ElementType::float32;

    knn::Rows rows() const { return {bytes.data(), n, dim, type}; }
};

/// Of values, row by row, each rounded to the type.
RealSet real_set(const std::string& name, const std::vector<double>& values, std::int64_t dim,
                 ElementType type = ElementType::float32);

/// Sets that are hard for exact searches: cancellation, denormals, sizes far apart, duplicates, constant columns and rows, ties.
std::vector<RealSet> hostile_real_sets(ElementType type);

/// n × dim values from a normal distribution (spread > 0: around so many centers).
RealSet normal_set(std::int64_t n, std::int64_t dim, std::uint64_t seed, int centers = 0,
                   ElementType type = ElementType::float32);

/// The distance by the definition.
double defined_distance(const Measure& measure, const knn::Rows& a, std::int64_t i, const knn::Rows& b,
                        std::int64_t j);
/// In extended precision, without a fixed order.
long double long_distance(const Measure& measure, const knn::Rows& a, std::int64_t i, const knn::Rows& b,
                          std::int64_t j);

/// The k nearest of each query by defined_distance and index. images: of each query, left out; may be empty.
Neighbors nearest_reals(const knn::Rows& train, const knn::Rows& query, int k, const Measure& measure,
                        std::span<const std::uint32_t> images = {});

}  // namespace knn::test
