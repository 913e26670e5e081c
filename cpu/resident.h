#pragma once
/// The training set on the host, shared by all searches in it.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "cpu/host/threads.h"
#include "cpu/kernels/kernel.h"
#include "cpu/pack.h"
#include "cpu/scanner.h"
#include "cpu/scorer.h"
#include "data/core/device_index.h"

namespace knn::cpu {

/// Training images in the order in which the kernel reads them, with precomputed terms.
struct Packed {
    Panels panels;
    std::unique_ptr<Scoring> scoring;
};

struct Resident {
    Rows train;
    Measure measure;
    const Kernel& kernel;
    Plan plan;
    std::optional<Packed> packed = {};  ///< made by the first search that needs it
    std::mutex packing = {};

    /// Makes `packed`, unless it is there; adds the stage `pack`. Thread-safe.
    void pack(Team& team, Timeline& timeline);
    /// Bytes that `pack` would still allocate.
    std::int64_t bytes_to_pack();
    /// Maximum number of queries in a block: the plan's batch at most; the block stays in the L2 cache while all panels are
    /// read, and each panel is used often before the next one is read.
    std::int64_t max_block() const;
    PanelScanner scanner(std::int64_t block) const;
};

/// Adds the stages `distance` and `select` of a search: `pairs` distances, by all threads.
void add_stages(std::span<const Tally> tallies, double pairs, std::int64_t dim, Timeline& timeline);

}  // namespace knn::cpu
