#pragma once
/// Measurements of the GPU as app/ calls them. Plain C++, without CUDA types.

#include <memory>

#include "data/core/bench.h"
#include "data/rerank/descriptor.h"
#include "data/transform/fitted.h"

namespace knn::gpu {

/// Measured limits of this device. Throws DeviceError.
Limits measure_limits(int device);

/// Images on a device, and memory for a matrix of as many queries as fit; distances are by problem.measure. problem.k is the
/// largest that will be selected. The token and the images outlive the arrays. Without images the matrix has uniformly random
/// values, always the same, and only selection can be timed.
std::unique_ptr<BenchArrays> bench_arrays(int device, const Problem& problem, const Rows& train,
                                          const Rows& query, const ProgressToken& token);

/// The kernels of a whole search by the engine `tensor` (l2), vote included, with training set and queries on the device: a
/// CUDA graph, launched repeatedly. The plan is configured.
Trial time_kernels(const Plan& plan, const Training& training, const Rows& query, int k,
                   const TrialOptions& options, const ProgressToken& token);

/// A program of seed 003 as a whole, for l2, by the host's clock, from the upload of the training images to the last download.
/// Stages: allocations, transfers, distances and sorts.
Trial time_program(int device, const Program& program, const Rows& train, const Rows& query, int k,
                   const TrialOptions& options, const ProgressToken& token);

/// A transform of images that are on the device, all in one launch per kernel: count × dim_out features.
Trial time_transform(int device, const FittedTransform& transform, const Rows& images,
                     const TrialOptions& options, const ProgressToken& token);

/// Re-ranking of all candidates, with descriptors and candidates on the device. `plain`: by the loops for any shape. It finds
/// all candidates in their new order.
Trial time_rerank(int device, const RerankWork& work, bool plain, const TrialOptions& options,
                  const ProgressToken& token);

}  // namespace knn::gpu
