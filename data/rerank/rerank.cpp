#include "data/rerank/rerank.h"

#include <string>

namespace knn {

namespace {

Refusal refuse_outside(const char* what, int value, int low, int high) {
    if (value >= low && value <= high) return {};
    return std::string(what) + " of the re-ranking: " + std::to_string(value) + "; expected " +
           std::to_string(low) + " to " + std::to_string(high);
}

}  // namespace

std::span<const RerankInfo> rerankers() {
    static constexpr std::array table{
        RerankInfo{Reranker::none, "the order of the search"},
        RerankInfo{Reranker::distortion, "gradients, each at the best of its displacements"},
        RerankInfo{Reranker::cells, "local histograms of gradients, each against the best of 3 × 3"},
        RerankInfo{Reranker::both, "the sum of distortion and cells"},
    };
    return table;
}

Refusal refuse_rerank(const Rerank& rerank) {
    if (const Refusal why = refuse_outside("candidates", rerank.candidates, min_candidates, max_k))
        return why;
    if (const Refusal why = refuse_outside("step", rerank.step, 1, max_step)) return why;
    if (const Refusal why = refuse_outside("window", rerank.window, 0, max_window)) return why;
    return refuse_outside("context", rerank.context, 0, max_context);
}

}  // namespace knn
