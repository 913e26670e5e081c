#include "classifier/method.h"

#include <algorithm>
#include <array>

#include "classifier/class_mean.h"
#include "data/core/errors.h"

namespace knn {

Problem Method::problem(const Training& training, std::int64_t n_query) const {
    const Rows& rows = training.rows;
    if (const Refusal why = refuse_transform(transform, training.shape, rows.count)) throw UsageError(*why);
    if (rerank.kind == Reranker::spread && !is_integral(measure.metric))
        throw UsageError(std::string("§rerank spread: scales integers, which distances by ") +
                         name(measure.metric) + " are not; expected §metric l2 or l1");
    const std::int64_t dim = transform.is_raw() ? rows.dim : output_dim(transform, training.shape);
    const int wanted = reranks() ? std::max(rerank.candidates, voters(max_k)) : voters(max_k);
    // Fewer candidates than wanted do, but k has to be there.
    const std::int64_t k = std::max<std::int64_t>(vote.k, std::min<std::int64_t>(wanted, rows.count));
    return {rows.count, n_query, dim, static_cast<int>(k), measure};
}

int Method::voters(std::int64_t n) const {
    if (vote.votes == Votes::majority) return vote.k;
    return std::max(vote.k, static_cast<int>(std::min<std::int64_t>(rerank.candidates, n)));
}

std::span<const NamedMethod> methods() {
    static const std::array table{
        NamedMethod{"raw", "pixels, the papers' classifier", {}},
        NamedMethod{"gradients",
                    "gradient histograms of the deskewed image",
                    {.transform = {{{TransformKind::gradients, 0}}}}},
        NamedMethod{"accurate",
                    "the nearest by gradients, ordered again by distances that let pixels move",
                    {.transform = {{{TransformKind::gradients, 0}}},
                     .rerank = {.kind = Reranker::both},
                     .vote = {.k = class_mean_neighbors, .votes = Votes::class_mean}}},
    };
    return table;
}

std::string_view name_of(const Method& method) {
    const auto found = std::find_if(methods().begin(), methods().end(),
                                    [&](const NamedMethod& one) { return one.method == method; });
    return found != methods().end() ? found->name : "custom";
}

}  // namespace knn
