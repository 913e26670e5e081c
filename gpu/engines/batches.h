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
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "data/core/device_index.h"
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
    LeftOut left_out;
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

    /// What the memory of a search depends on.
    struct Shape {
        std::int64_t n_query;
        int k;
        bool leaves_out, has_known;  ///< has_known: only if the engine's capabilities say so
    };
    /// Allocates memory for a search, while nothing is running. Returns the batch size: the best number of queries, at
    /// most `limit` unless it is 0.
    virtual std::int64_t reserve(const Shape& shape, std::int64_t limit) = 0;
    /// The stages between upload and vote, for at most as many queries as `reserve` returned. Batches run one
    /// after another, so they may share workspaces.
    virtual std::vector<Step> steps(const Batch& batch) = 0;
};

class BatchedIndex final : public DeviceIndex {
  public:
    /// Takes labels, transform and re-ranker from `upload`. plan.batch: the limit of a batch, or 0.
    BatchedIndex(std::unique_ptr<BatchEngine> engine, Upload& upload, const Measure& measure,
                 const Plan& plan);
    ~BatchedIndex() override;

    /// One search at a time: other threads wait.
    std::int64_t top_k(const TopK& wanted, const TopKResult& result, Timeline& timeline,
                       const Watch& watch) override;

  private:
    struct Slot;
    struct Run;
    void prepare(const Plan::Expected& search);
    void run(const Run& run, Timeline& timeline, const Watch& watch);
    void reserve(const BatchEngine::Shape& shape);
    void enqueue(const Run& run, Slot& slot, std::int64_t begin);
    cudaEvent_t enqueue_search(const Run& run, Slot& slot, const Queries& queries,
                               const NeighborRows& neighbors);
    cudaEvent_t enqueue_rerank(const ByteRows& images, const NeighborRows& candidates,
                               const NeighborRows& out, StageTimer& timer);
    void collect(const Run& run, Slot& slot, Timeline& timeline);
    void abandon();
    std::int64_t query_dim() const { return transform_.is_raw() ? dim_ : transform_.dim_in(); }

    std::mutex searching_;
    std::unique_ptr<BatchEngine> engine_;
    DeviceBuffer<std::uint8_t> labels_;
    DeviceTransform transform_;
    std::int64_t n_train_, dim_;  ///< dim_: bytes of features
    Rerank rerank_;
    std::unique_ptr<DeviceReranker> reranker_;
    DeviceBuffer<Neighbor> candidates_;  ///< of a batch, if they are ordered again
    Measure measure_;                    ///< of the neighbors
    int device_;
    std::int64_t limit_, batch_ = 0;  ///< queries at once: at most, and of this search
    std::unique_ptr<Slot> slots_[2];
    Stream uploads_, kernels_, downloads_;
};

}  // namespace knn::gpu
