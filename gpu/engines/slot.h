#pragma once

#include <cstdint>

#include "data/core/searcher.h"
#include "gpu/runtime/device_buffer.h"
#include "gpu/runtime/pinned_buffer.h"
#include "gpu/runtime/pitched_buffer.h"
#include "gpu/runtime/stage_timer.h"

namespace knn::gpu {

/// What one batch in flight needs.
struct Slot {
    PitchedBuffer<std::uint8_t> bytes;
    DeviceBuffer<Neighbor> neighbors;
    DeviceBuffer<Vote> votes;
    PinnedBuffer<Neighbor> host_neighbors;
    PinnedBuffer<Vote> host_votes;
    StageTimer upload, expand, distance, sort, vote, download;
    std::int64_t begin = 0, count = 0;  // the queries in it; count 0: nothing in flight

    Slot(std::int64_t batch, std::int64_t dim, int k)
        : bytes(batch, dim),
          neighbors(static_cast<std::size_t>(batch * k)),
          votes(static_cast<std::size_t>(batch)),
          host_neighbors(static_cast<std::size_t>(batch * k)),
          host_votes(static_cast<std::size_t>(batch)) {}
};

}  // namespace knn::gpu
