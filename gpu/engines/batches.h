#pragma once
/// The loop over batches of queries, shared by all GPU engines:
///
///   host bytes ─upload→ bytes ─transform→ features ─the engine's stages→ candidates ─describe, rerank→ neighbors
///   ─vote→ votes ─download→ host
///
/// Without a transform the features are the bytes themselves, and the stage is missing. So are `describe` and `rerank`
/// without a re-ranker: the candidates are the neighbors.
///
/// Queries that are real rows become bytes, whose neighbors are candidates for exact distances (gpu/vectors/):
///
///   host rows ─upload→ rows ─bytes→ bytes ─the engine's stages→ candidates ─exact→ neighbors ─download→ host
///
/// Two slots alternate: while the kernels work on the batch in one slot, the next batch is uploaded to the other
/// and the results of the previous one are downloaded, each direction on its own stream. A search of one batch
/// uses one stream, so its stages wait for no events.

#include <cuda_runtime.h>

#include <memory>
#include <mutex>

#include "data/core/device_index.h"
#include "gpu/rerank/rerank.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/stream.h"
#include "gpu/runtime/views.h"
#include "gpu/transform/transform.h"
#include "gpu/vectors/reals.h"

namespace knn::gpu {

/// What the loop over batches keeps of a training set.
struct Resident {
    std::int64_t n = 0, dim = 0;  ///< of the features
    std::shared_ptr<const DeviceBuffer<std::uint8_t>> labels;
    DeviceTransform transform;                 ///< for queries
    std::unique_ptr<DeviceReranker> reranker;  ///< with the training set's descriptors; null: there is none
};

/// The upload of the training set while an engine is opened, its transform, and what re-ranks neighbors.
struct Upload : Resident {
    /// Queues the copies and launches on `stream`. The host memory must outlive this.
    explicit Upload(const Training& training);
    /// Waits, and adds the stages so far to `timeline`.
    void finish(Timeline& timeline);

    Stream stream;
    StageTimer timer;
    ImageBuffer features;  ///< what is searched; without a transform the pixels
    ImageBuffer pixels;    ///< that the transform reads
};

/// A training set on the device, and the stages of a search in it.
class BatchEngine {
  public:
    virtual ~BatchEngine() = default;

    /// Allocates memory for a search, while nothing is running. Returns the batch size: the best number of queries, at
    /// most `limit` unless it is 0. shape.has_known: only if the engine's capabilities say so.
    /// What the first search prepares for all others is a stage of `timeline`.
    virtual std::int64_t reserve(const SearchShape& shape, std::int64_t limit, Timeline& timeline) = 0;
    /// Queues the engine's own stages, from features to neighbors, for at most as many queries as `reserve` returned. Batches run one
    /// after another, so they may share workspaces.
    virtual void enqueue(const Batch& batch, StageTimer& timer, cudaStream_t stream) = 0;
    virtual SketchColumns decided_sketch() const { return SketchColumns::automatic; }
    /// Another engine on the same training set, with workspaces of its own, for small searches on another stream; null: there is
    /// none. Thread-safe.
    virtual std::unique_ptr<BatchEngine> beside() const { return nullptr; }
};

class BatchedIndex final : public DeviceIndex {
  public:
    /// plan.batch: the limit of a batch, or 0.
    BatchedIndex(std::unique_ptr<BatchEngine> engine, Resident training, const Measure& measure,
                 const Plan& plan);
    ~BatchedIndex() override;

    /// One search at a time, but small ones run beside others, in workspaces of their own.
    std::int64_t top_k(const TopKRequest& wanted, const TopKResult& result, Timeline& timeline,
                       const ProgressToken& token) override;
    /// Unless they take more than half of the free memory.
    bool keep(const QuantizedRows& rows) override;
    /// All but the metric lp, whose distances the host computes.
    bool enqueue(const DeviceSearch& wanted) override;
    /// Only while nothing is searched.
    SketchColumns decided_sketch() const override { return engine_->decided_sketch(); }

  private:
    struct Slot;
    struct Run;
    BatchedIndex& locked(std::int64_t n_query, std::unique_lock<std::mutex>& lock);
    BatchedIndex* beside();
    std::int64_t search(const TopKRequest& wanted, const TopKResult& result, Timeline& timeline,
                        const ProgressToken& token);
    void queue(const DeviceSearch& wanted);
    void prepare(const Plan::Expected& search);
    void run(const Run& run, Timeline& timeline, const ProgressToken& token);
    void reserve(const SearchShape& shape, Timeline& timeline);
    void reserve_slot(Slot& slot, std::int64_t n, std::size_t known, std::size_t result_bytes);
    void enqueue(const Run& run, Slot& slot, std::int64_t begin);
    void enqueue_search(const Run& run, Slot& slot, const Queries& queries, const NeighborRows& neighbors);
    void enqueue_stages(Slot& slot, const ByteRows& images, int candidates, const LeftOut& left_out,
                        const KnownRows& known, const NeighborRows& neighbors);
    void enqueue_reals(Slot& slot, const RealQueries& queries, int candidates, const LeftOut& left_out,
                       const NeighborRows& neighbors);
    int candidates_for(int k, std::int64_t others) const;
    void wait_for_queued();
    void collect(const Run& run, Slot& slot, Timeline& timeline);
    void abandon();
    std::int64_t query_dim() const;

    std::mutex searching_;
    std::unique_ptr<BatchEngine> engine_;
    Resident training_;
    DeviceBuffer<Neighbor> candidates_;   ///< of a batch, if they are ordered again
    std::unique_ptr<DeviceReals> reals_;  ///< null: it has bytes alone
    Measure measure_;                     ///< of the neighbors
    int device_;
    std::int64_t limit_, batch_ = 0;  ///< queries at once: at most, and of this search
    std::unique_ptr<Slot> slots_[2];
    std::unique_ptr<Slot> queued_;   ///< of searches in device memory; null: there were none
    SearchShape queued_shape_;       ///< of the last of them; n_query = 0: none may still be running
    Event queries_ready_, answers_;  ///< of the same
    Stream uploads_, kernels_, downloads_;
    std::mutex making_;  ///< of what follows
    std::unique_ptr<BatchedIndex> beside_;
    int most_beside_ = 3;  ///< indexes that may still be made beside this one
};

}  // namespace knn::gpu
