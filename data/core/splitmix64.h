#pragma once
/// SplitMix64 (Steele, Lea, Flood 2014): any seed is good, and streams of different seeds are independent.

#include <cstdint>

namespace knn {

inline constexpr std::uint64_t splitmix64_step = 0x9e3779b97f4a7c15;  ///< by which the state grows

/// The number of a state.
constexpr std::uint64_t splitmix64(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

}  // namespace knn
