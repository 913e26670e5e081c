#pragma once

#include <chrono>

namespace knn {

using Clock = std::chrono::steady_clock;

inline double ms_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
}
inline double ms_since(Clock::time_point start) {
    return ms_between(start, Clock::now());
}

}  // namespace knn
