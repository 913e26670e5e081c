#pragma once
/// The loop over batches of queries, shared by all GPU engines:
///
///   host bytes ─upload→ bytes ─transform→ features ─the engine's stages→ candidates ─describe, rerank→ neighbors
///   ─vote→ votes ─download→ host
///
/// Without a transform the features are the bytes themselves, and the stage is missing. So are `describe` and `rerank`
/// without a re-ranker: the candidates are the neighbors.
///
/// Two slots alternate: while the kernels work on the batch in one slot, the next batch is uploaded to the other
/// and the results of the previous one are downloaded, each direction on its own stream. A search of one batch
/// uses one stream, so its stages wait for no events.

#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "data/core/searcher.h"
#include "data/rerank/reranking.h"
#include "gpu/engines/upload.h"
#include "gpu/rerank/rerank.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/stream.h"
#include "gpu/runtime/views.h"
#include "gpu/transform/transform.h"

namespace knn::gpu {

/// One batch on the device.
struct Batch {
    ByteRows query;  ///< features
    NeighborRows out;
    Excluded excluded;
    KnownRows known;
};

/// A stage, and the function that queues its launches.
struct Step {
    Stage stage;
    std::function<void(cudaStream_t)> enqueue;

    Step(Stage what, std::function<void(cudaStream_t)> launches)
        : stage(std::move(what)), enqueue(std::move(launches)) {}
};

/// A training set on the device, and the stages of a search in it.
class BatchEngine {
  public:
    virtual ~BatchEngine() = default;

    /// Allocates memory for a search, while nothing is running. Returns the batch size: the best number of
    /// queries, at most `limit` unless it is 0. improve: batches have known neighbors.
    virtual std::int64_t reserve(std::int64_t n_query, int k, bool exclude, std::int64_t limit,
                                 bool improve) = 0;
    virtual bool improves() const { return false; }  ///< whether batches may have known neighbors
    /// The stages between upload and vote, for at most as many queries as `reserve` returned. Batches run one
    /// after another, so they may share workspaces.
    virtual std::vector<Step> steps(const Batch& batch) = 0;
};

class BatchedSearcher final : public Searcher {
  public:
    /// Takes labels and transform from `upload`. plan.batch: the limit of a batch, or 0.
    BatchedSearcher(std::unique_ptr<BatchEngine> engine, Upload& upload, const Measure& measure,
                    const Plan& plan);
    ~BatchedSearcher() override;

    Neighbors search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                     const Watch& watch) override;
    bool rerank_by(const Reranking& reranking, Timeline& timeline) override;
    void prepare(std::int64_t n_query, int k, bool improve) override;
    bool improves(int k, Exclude exclude) const override;
    void improve(const Rows& queries, int k, std::uint32_t first, Exclude exclude, Timeline& timeline,
                 const Watch& watch, const Tell& tell, std::span<Neighbor> best) override;
    bool votes(const VotingRule& rule) const override;
    Answers search_and_vote(const Rows& queries, const VotingRule& rule, Exclude exclude, Timeline& timeline,
                            const Watch& watch) override;
    void search_and_tell(const Rows& queries, int k, const VotingRule* rule, Exclude exclude,
                         Timeline& timeline, const Watch& watch, const Tell& tell, Answers& answers) override;
    Plan plan() const override { return plan_; }

  private:
    struct Slot;
    struct Run;
    void run(const Run& run, Answers& answers, Timeline& timeline, const Watch& watch, const Tell& tell);
    void require_search(const Rows& queries, int k, Exclude exclude) const;
    void reserve(std::int64_t n_query, int candidates, Exclude exclude, bool improve);
    void enqueue(const Run& run, Slot& slot, std::int64_t begin);
    cudaEvent_t enqueue_search(const Run& run, Slot& slot, const Rows& queries,
                               const NeighborRows& neighbors);
    cudaEvent_t enqueue_rerank(const ByteRows& images, const NeighborRows& candidates,
                               const NeighborRows& out, StageTimer& timer);
    Measure neighbor_measure() const { return reranker_ ? Measure{} : measure_; }
    void enqueue_known(std::span<const Neighbor> known, const Slot& slot, cudaStream_t stream);
    void collect(const Run& run, Slot& slot, Answers& answers, Timeline& timeline, const Tell& tell);
    void abandon();

    std::unique_ptr<BatchEngine> engine_;
    DeviceBuffer<std::uint8_t> labels_;
    DeviceTransform transform_;
    Rows train_images_;  ///< in host memory
    ImageShape shape_;
    std::int64_t n_train_, dim_;  ///< bytes of features
    Reranking reranking_;         ///< its parameters alone
    std::unique_ptr<DeviceReranker> reranker_;
    DeviceBuffer<Neighbor> candidates_;  ///< of a batch, if they are ordered again
    Measure measure_;
    Plan plan_;
    std::int64_t limit_;
    std::unique_ptr<Slot> slots_[2];
    Stream uploads_, kernels_, downloads_;
};

}  // namespace knn::gpu
