#pragma once
/// The types that the elements of rows may have.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

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

/// The number with its bytes in the other order.
template <class T>
T swapped(T number) {
    auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof number>>(number);
    std::ranges::reverse(bytes);
    return std::bit_cast<T>(bytes);
}

/// The bytes of a whole number, the smallest first.
template <class T>
std::string little_bytes(T number) {
    std::string bytes;
    for (std::size_t i = 0; i < sizeof number; ++i)
        bytes += static_cast<char>(number >> (8 * i));
    return bytes;
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
