#pragma once

#include "cpu/host/aligned.h"
#include "cpu/rerank/kernel.h"
#include "data/rerank/descriptor.h"

namespace knn::cpu {

RerankShape rerank_shape(ImageShape image);

/// One thread's memory for the kernels: a query, and as many candidates as the kernel has lanes.
class RerankMemory {
  public:
    RerankMemory(const RerankShape& shape, const DescriptorLayout& layout, int lanes);

    const RerankQuery& query() const { return query_; }
    const RerankLanes& lanes() const { return work_; }
    /// Copies the query's descriptor into the form that kernels read.
    void set_query(const RerankShape& shape, const DescriptorLayout& layout, const std::uint8_t* descriptor);

  private:
    Aligned<std::uint32_t> gradients_, cells_;
    Aligned<std::uint16_t> terms_, planes_, packed_cells_, packed_terms_, least_, squares_;
    RerankQuery query_;
    RerankLanes work_;
};

/// One thread's memory for the descriptor of an image.
class DescribeMemory {
  public:
    explicit DescribeMemory(const RerankShape& shape);
    const DescribeWork& work() const { return work_; }

  private:
    Aligned<std::int16_t> padded_, gradients_;
    Aligned<std::int8_t> levels_;
    Aligned<std::uint16_t> shares_;
    Aligned<std::uint8_t> values_;
    DescribeWork work_;
};

}  // namespace knn::cpu
