#include "data/core/timeline.h"

#include <algorithm>

namespace knn {

double Stage::gb_per_s() const {
    return total_ms > 0 ? bytes / total_ms * 1e-6 : 0;
}
double Stage::gflop_per_s() const {
    return total_ms > 0 ? operations / total_ms * 1e-6 : 0;
}

void Timeline::add(const Stage& stage) {
    const auto known =
        std::find_if(stages_.begin(), stages_.end(), [&](const Stage& s) { return s.name == stage.name; });
    if (known == stages_.end()) {
        stages_.push_back(stage);
        return;
    }
    known->launches += stage.launches;
    known->total_ms += stage.total_ms;
    known->bytes += stage.bytes;
    known->operations += stage.operations;
}

void Timeline::add(const Timeline& other) {
    for (const Stage& stage : other.stages_)
        add(stage);
}

double Timeline::kernels_ms() const {
    double sum = 0;
    for (const Stage& stage : stages_)
        if (stage.kind == StageKind::kernel) sum += stage.total_ms;
    return sum;
}

}  // namespace knn
