#include "classifier/ranks.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace knn {

namespace {

/// The number in the first of these environment variables that has one.
int number_in(std::initializer_list<const char*> names, int otherwise) {
    for (const char* name : names) {
        const char* text = std::getenv(name);
        if (text == nullptr) continue;
        const std::string_view digits = text;
        int number = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error == std::errc{} && end == digits.data() + digits.size()) return number;
    }
    return otherwise;
}

}  // namespace

Job started_job() {
    // Of Open MPI; of MPICH, Intel MPI and others.
    return {number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0),
            number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1)};
}

std::vector<std::vector<std::uint8_t>> gather_all(Ranks& ranks, std::span<const std::uint8_t> mine,
                                                  const std::atomic<bool>* stop) {
    const auto size = static_cast<std::size_t>(ranks.size());
    const std::uint64_t own = mine.size();
    std::vector<std::uint64_t> sizes(size);
    std::vector<std::vector<std::uint8_t>> all(size);
    Incoming receive;
    for (std::uint64_t& one : sizes)
        receive.emplace_back(reinterpret_cast<std::uint8_t*>(&one), sizeof one);
    ranks.exchange(Outgoing(size, {reinterpret_cast<const std::uint8_t*>(&own), sizeof own}), receive, stop);
    for (std::size_t r = 0; r < size; ++r) {
        all[r].resize(sizes[r]);
        receive[r] = all[r];
    }
    ranks.exchange(Outgoing(size, mine), receive, stop);
    return all;
}

}  // namespace knn
