#pragma once
/// The types that the elements of rows may have.

#include <array>
#include <cstdint>
#include <cstring>

#include "data/core/names.h"

namespace knn {

/// Pixels are uint8. Rows of any other type have real distances: see data/core/exact_distance.h.
enum class ElementType { uint8, int8, float32, float64 };
template <>
inline constexpr std::array name_list<ElementType>{"uint8", "int8", "float32", "float64"};

/// Bytes of one element.
constexpr std::int64_t size_of(ElementType type) {
    return type == ElementType::float64 ? 8 : type == ElementType::float32 ? 4 : 1;
}

/// work(an element of the type).
template <class Work>
constexpr decltype(auto) of_type(ElementType type, const Work& work) {
    if (type == ElementType::uint8) return work(std::uint8_t());
    if (type == ElementType::int8) return work(std::int8_t());
    if (type == ElementType::float32) return work(float());
    return work(double());
}

/// The number at an address of any alignment.
template <class T>
T load_as(const std::uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
template <class T>
void store_as(std::uint8_t* to, const T& value) {
    std::memcpy(to, &value, sizeof value);
}

}  // namespace knn
