#include "data/core/timeline.h"

#include <algorithm>
#include <numeric>

namespace knn {

double Stage::gb_per_s() const {
    return total_ms > 0 ? bytes / total_ms * 1e-6 : 0;
}
double Stage::gflop_per_s() const {
    return total_ms > 0 ? operations / total_ms * 1e-6 : 0;
}

void Timeline::add(const Stage& stage) {
    const auto known = std::ranges::find(stages_, stage.name, &Stage::name);
    if (known == stages_.end()) {
        stages_.push_back(stage);
        return;
    }
    known->launches += stage.launches;
    known->total_ms += stage.total_ms;
    known->bytes += stage.bytes;
    known->operations += stage.operations;
}

void Timeline::add_since(const char* name, Clock::time_point start, StageKind kind) {
    add({.name = name, .launches = 1, .total_ms = ms_since(start), .kind = kind});
}

void Timeline::add(const Timeline& other) {
    for (const Stage& stage : other.stages_)
        add(stage);
    add_device_ms(other.device_ms_);
}

void Timeline::add_device_ms(const std::vector<double>& ms) {
    device_ms_.resize(std::max(device_ms_.size(), ms.size()));
    for (std::size_t i = 0; i < ms.size(); ++i)
        device_ms_[i] += ms[i];
}

double Timeline::imbalance() const {
    const double sum = std::accumulate(device_ms_.begin(), device_ms_.end(), 0.0);
    if (sum <= 0) return 0;
    return *std::max_element(device_ms_.begin(), device_ms_.end()) * static_cast<double>(device_ms_.size()) /
               sum -
           1;
}

double Timeline::kernels_ms() const {
    double sum = 0;
    for (const Stage& stage : stages_)
        if (stage.kind == StageKind::kernel) sum += stage.total_ms;
    return sum;
}

Timeline slowest(const std::vector<Timeline>& timelines) {
    std::vector<Stage> longest;
    for (const Timeline& timeline : timelines)
        for (const Stage& stage : timeline.stages()) {
            const auto known = std::ranges::find(longest, stage.name, &Stage::name);
            if (known == longest.end())
                longest.push_back(stage);
            else if (stage.total_ms > known->total_ms)
                *known = stage;
        }
    Timeline result;
    for (const Stage& stage : longest)
        result.add(stage);
    return result;
}

}  // namespace knn
