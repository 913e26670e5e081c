#pragma once
/// The loop over batches of queries that all engines of the GPU share:
///
///   host bytes ─upload→ bytes ─an engine's own stages→ neighbors ─vote→ votes ─download→ host
///
/// Two slots take turns: while the kernels work on the batch in one slot, the next batch is uploaded into the
/// other and the results of the one before travel back, each direction on a stream of its own. A search of
/// one batch has one stream, and nothing to wait for between its stages.

#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "data/core/searcher.h"
#include "gpu/runtime/excluded.h"
#include "gpu/runtime/image_buffer.h"
#include "gpu/runtime/pinned_buffer.h"
#include "gpu/runtime/stage_timer.h"
#include "gpu/runtime/stream.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// One batch on the device.
struct Batch {
    ByteRows query;  ///< as uploaded
    NeighborRows out;
    Excluded excluded;
};

/// A stage, and what queues its launches.
struct Step {
    Stage stage;
    std::function<void(cudaStream_t)> enqueue;

    Step(Stage what, std::function<void(cudaStream_t)> launches)
        : stage(std::move(what)), enqueue(std::move(launches)) {}
};

/// A training set on the device, and how neighbors are found in it.
class BatchEngine {
  public:
    virtual ~BatchEngine() = default;

    /// Memory for a search; nothing is running. Returns how many of the queries to search at once: as many as
    /// seem best, at most `limit` where it is not 0.
    virtual std::int64_t reserve(std::int64_t n_query, int k, bool exclude, std::int64_t limit) = 0;
    /// The stages between upload and vote, for at most as many queries as `reserve` said. Batches run one
    /// after another, so they may share workspaces.
    virtual std::vector<Step> steps(const Batch& batch) = 0;
};

/// The training set while an engine is opened: bytes and labels on their way to the device.
class Upload {
  public:
    /// Queues the copies on `stream`. The host's memory outlives this.
    explicit Upload(const Training& training);
    /// Waits; the stages so far go to `timeline`.
    void finish(Timeline& timeline);

    Stream stream;
    StageTimer timer;
    ImageBuffer images;
    DeviceBuffer<std::uint8_t> labels;
};

class BatchedSearcher final : public Searcher {
  public:
    /// plan.batch: the limit of a batch, or 0.
    BatchedSearcher(std::unique_ptr<BatchEngine> engine, DeviceBuffer<std::uint8_t> labels, Rows train,
                    const Measure& measure, const Plan& plan);
    ~BatchedSearcher() override;

    Neighbors search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                     const Watch& watch) override;
    bool votes(const VotingRule& rule) const override;
    Answers search_and_vote(const Rows& queries, const VotingRule& rule, Exclude exclude, Timeline& timeline,
                            const Watch& watch) override;
    Plan plan() const override { return plan_; }

  private:
    struct Slot;
    struct Run;
    Answers run(const Rows& queries, int k, const VotingRule* rule, Exclude exclude, Timeline& timeline,
                const Watch& watch);
    void enqueue(const Run& run, Slot& slot, std::int64_t begin);
    void collect(const Run& run, Slot& slot, Answers& answers, Timeline& timeline);
    void abandon();

    std::unique_ptr<BatchEngine> engine_;
    DeviceBuffer<std::uint8_t> labels_;
    Rows train_;
    Measure measure_;
    Plan plan_;
    std::int64_t limit_;
    std::unique_ptr<Slot> slots_[2];
    Stream uploads_, kernels_, downloads_;
};

}  // namespace knn::gpu
