#pragma once
/// Re-ranking on the host: the bytes and the order that data/rerank defines, whatever the instruction set and the number
/// of threads.

#include <atomic>
#include <cstdint>
#include <span>

#include "data/core/neighbors.h"
#include "data/core/progress_token.h"
#include "data/rerank/descriptor.h"

namespace knn::cpu {

/// The descriptor of each image, deskewed first. threads: 0: all. Throws DataError (not enough memory), Interrupted,
/// UsageError (bad MNIST_KNN_ISA).
Descriptors describe(const RerankSpec& rerank, const Rows& images, ImageShape shape, int threads = 0,
                     const std::atomic<bool>* stop = nullptr);

/// The k nearest of each query's candidates by (distance, index), 1 <= k <= candidates.k. Descriptors: of the queries
/// and of the training images, of one layout. `density`: density_factors of the training images, or none: distances are
/// not divided. Throws like describe.
Neighbors rerank(const Neighbors& candidates, const Descriptors& queries, const Descriptors& train,
                 std::span<const std::uint32_t> density, int k, int threads = 0,
                 const ProgressToken& token = {});

/// The same by the re-ranker `spread` (data/rerank/spread.h). `terms`: spread_terms of the training images.
Neighbors scaled(const RerankSpec& rerank, const Neighbors& candidates, std::span<const std::int64_t> terms,
                 int k, int threads = 0);

}  // namespace knn::cpu
