#pragma once
/// The training set on the host, shared by all searches in it, and the two ways to read it. Each thread has its own
/// scanner; `begin` takes a block of queries, `scan` compares it with one unit of the training set.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "cpu/best.h"
#include "cpu/host/threads.h"
#include "cpu/kernels/kernel.h"
#include "cpu/pack.h"
#include "cpu/scorer.h"
#include "data/core/clock.h"
#include "data/core/device_index.h"

namespace knn::cpu {

/// What one thread did, for the timeline.
struct Tally {
    double distance_ms = 0, select_ms = 0, refine_ms = 0, bytes = 0;
    std::int64_t tasks = 0;
    std::int64_t refined = 0;  ///< exact distances of pairs that sketches left

    /// One pass that read `read` bytes, with distances from `start` to `middle` and selection since.
    void add(Clock::time_point start, Clock::time_point middle, std::int64_t read) {
        distance_ms += ms_between(start, middle);
        select_ms += ms_since(middle);
        bytes += static_cast<double>(read);
    }
};

/// For many queries: panels of packed images, by the kernel's matrix product. A unit is a panel.
class PanelScanner {
  public:
    PanelScanner(const Kernel& kernel, const Panels& panels, const Scoring& scoring, Rows train,
                 std::int64_t max_block);
    static std::int64_t bytes(const Kernel& kernel, std::int64_t dim, std::int64_t max_block);

    void begin(Rows queries, Tally& tally);
    void scan(std::int64_t unit, BestLists& best, Tally& tally);
    /// After the task's last unit: whether `best` has the answers.
    bool finish(BestLists&, Tally&) { return true; }
    std::int64_t n_lists() const {
        return block_->strips() * kernel_.queries;
    }  ///< lists that `best` must have

    /// Pairs below `limits` (n_lists) of the queries with the images of a panel, of which those from the number of training images
    /// on are padding. image_limits: also those below the limit of the image, or null.
    std::span<const Hit> hits(std::int64_t unit, const std::uint32_t* limits,
                              const std::uint32_t* image_limits = nullptr) {
        return find_hits(unit, 0, block_->strips(), limits, image_limits);
    }
    std::int64_t panel_bytes() const { return panels_.panel_bytes(); }

    /// Instead of the other `begin`, with queries that are packed already.
    void begin(Rows queries, const QueryBlock& packed);
    /// Each pair for both sides: the queries are training images first_query .., none of them in this panel, and all of them
    /// there are; `all` has a list for each training image.
    void scan_both(std::int64_t unit, BestLists& best, std::int64_t first_query, BestLists& all,
                   Tally& tally);

  private:
    /// The scored hits of a panel among strips of the block. image_limits: for both sides, or null.
    std::span<Hit> find_hits(std::int64_t unit, std::int64_t first_strip, std::int64_t end_strip,
                             const std::uint32_t* limits, const std::uint32_t* image_limits);

    const Kernel& kernel_;
    const Panels& panels_;
    std::int64_t n_train_;
    std::unique_ptr<Scorer> scorer_;
    std::int64_t max_block_;
    std::optional<QueryBlock> own_;  ///< made by the first `begin` that packs
    const QueryBlock* block_ = nullptr;
    Uninitialized<std::uint32_t> partial_;
    Uninitialized<Hit> hits_;
};

/// For few queries, where packing does not pay: reads unpacked rows. A unit is `unit_rows` rows.
class RowScanner {
  public:
    static constexpr std::int64_t unit_rows = 256;

    RowScanner(const Scoring& scoring, Rows train, std::int64_t max_block);

    void begin(Rows queries, Tally& tally);
    void scan(std::int64_t unit, BestLists& best, Tally& tally);
    bool finish(BestLists&, Tally&) { return true; }
    std::int64_t n_lists() const { return queries_.count; }

  private:
    Rows train_, queries_;
    std::unique_ptr<Scorer> scorer_;
    Uninitialized<std::uint32_t> distances_;
};

/// Training images in the order in which the kernel reads them, with precomputed terms.
struct Packed {
    Panels panels;
    Scoring scoring;
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

/// Runs work(thread, tally) on all threads of the team, which compute `pairs` distances of `dim` columns, and adds the stages
/// `distance` and `select`, and `refine` if pairs were refined.
void run_tallied(Team& team, double pairs, std::int64_t dim, Timeline& timeline,
                 const std::function<void(int thread, Tally& tally)>& work);

}  // namespace knn::cpu
