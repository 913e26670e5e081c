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

namespace {

/// A stage as it is sent; names of stages are short.
struct PackedStage {
    char name[40] = "";
    std::int64_t launches = 0;
    double total_ms = 0, bytes = 0, operations = 0;
    StageKind kind = StageKind::kernel;
};

}  // namespace

Timeline slowest_rank(Ranks& ranks, const Timeline& mine, double ms, const std::atomic<bool>* stop) {
    std::vector<PackedStage> own(1);
    own[0].total_ms = ms;
    for (const Stage& stage : mine.stages()) {
        PackedStage& one = own.emplace_back();
        stage.name.copy(one.name, sizeof one.name - 1);
        one.launches = stage.launches;
        one.total_ms = stage.total_ms;
        one.bytes = stage.bytes;
        one.operations = stage.operations;
        one.kind = stage.kind;
    }
    std::vector<Timeline> timelines;
    std::vector<double> rank_ms;
    for (const auto& bytes : gather_all(ranks, bytes_of(std::span<const PackedStage>(own)), stop)) {
        std::vector<PackedStage> stages(bytes.size() / sizeof(PackedStage));
        std::memcpy(stages.data(), bytes.data(), stages.size() * sizeof(PackedStage));
        Timeline& timeline = timelines.emplace_back();
        for (std::size_t i = 1; i < stages.size(); ++i) {
            const PackedStage& one = stages[i];
            timeline.add({one.name, one.launches, one.total_ms, one.bytes, one.operations, one.kind});
        }
        rank_ms.push_back(stages.at(0).total_ms);
    }
    Timeline all = slowest(timelines);
    all.add_device_ms(rank_ms);
    return all;
}

}  // namespace knn
