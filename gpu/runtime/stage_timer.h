#pragma once

#include <utility>

#include "data/core/timeline.h"
#include "gpu/runtime/event.h"

namespace knn::gpu {

/// One stage of one batch: an event before and after it, and what it moved and computed.
struct StageTimer {
    Event begin, end;
    Stage stage;
    bool used = false;

    template <class Work>
    void time(cudaStream_t stream, Stage what, Work&& work) {
        begin.record(stream);
        work();
        end.record(stream);
        stage = std::move(what);
        used = true;
    }
    void add_to(Timeline& timeline) {
        if (!used) return;
        stage.launches = 1;
        stage.total_ms = elapsed_ms(begin, end);
        timeline.add(stage);
        used = false;
    }
};

}  // namespace knn::gpu
