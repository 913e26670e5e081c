#pragma once
/// Measurements of the GPU as app/ calls them. Plain C++, without CUDA types.

#include <memory>

#include "data/core/bench.h"
#include "data/core/timeline.h"
#include "data/rerank/descriptor.h"
#include "data/transform/fitted.h"

namespace knn::gpu {

/// Measured limits of this device. Throws DeviceError.
Limits measure_limits(int device);

/// Images on a device, and memory for a matrix of as many queries as fit; distances are by problem.measure.
/// problem.k is the largest that will be selected; strategies are named later. The token and the images
/// outlive the arrays. Without images the matrix has uniformly random values, always the same, and only selection can be
/// timed.
std::unique_ptr<BenchArrays> bench_arrays(int device, const Problem& problem, const Rows& train,
                                          const Rows& query, const ProgressToken& token);

/// Times the kernels of a whole search by the engine `tensor` (l2), vote included, with training set and
/// queries on the device: a CUDA graph, launched repeatedly. The plan is configured; `found` gets the neighbors.
Trial time_kernels(const Plan& plan, const Training& training, const Rows& query, int k,
                   const TrialOptions& options, const ProgressToken& token, Neighbors& found);

/// Times a program of seed 003 as a whole, by the host's clock, from the upload of the training images to the last download.
/// For l2. `found` gets the neighbors of the trial's queries, `stages` the time of allocations, transfers, distances and sorts
/// in the last run.
Trial time_program(int device, const Program& program, const Rows& train, const Rows& query, int k,
                   const TrialOptions& options, const ProgressToken& token, Neighbors& found,
                   Timeline& stages);

/// Times a transform of images that are on the device, all in one launch per kernel. `features` gets them,
/// count × dim_out.
Trial time_transform(int device, const FittedTransform& transform, const Rows& images,
                     const TrialOptions& options, const ProgressToken& token,
                     std::vector<std::uint8_t>& features);

/// Times re-ranking of all candidates, with descriptors and candidates on the device. `plain`: by the loops for any
/// shape. `found` gets all candidates in their new order.
Trial time_rerank(int device, const RerankWork& work, bool plain, const TrialOptions& options,
                  const ProgressToken& token, Neighbors& found);

}  // namespace knn::gpu
