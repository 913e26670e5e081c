#include "data/core/searcher.h"

#include <stdexcept>

namespace knn {

void require_k(int k, std::int64_t n_train, Exclude exclude) {
    const std::int64_t candidates = n_train - (exclude.any() ? 1 : 0);
    if (k < 1 || k > max_k || k > candidates)
        throw std::invalid_argument("k = " + std::to_string(k) + " of " + std::to_string(candidates) +
                                    " images");
}

Answers Searcher::search_and_vote(const Rows&, const VotingRule&, Exclude, Timeline&, const Watch&) {
    throw std::logic_error("this searcher does not vote");
}

void Searcher::improve(const Rows&, int, std::uint32_t, Exclude, Timeline&, const Watch&, const Tell&,
                       std::span<Neighbor>) {
    throw std::logic_error("this searcher does not take known neighbors");
}

void Searcher::search_and_tell(const Rows& queries, int k, const VotingRule* rule, Exclude exclude,
                               Timeline& timeline, const Watch& watch, const Tell& tell, Answers& answers) {
    if (rule != nullptr)
        answers = search_and_vote(queries, *rule, exclude, timeline, watch);
    else
        answers.neighbors = search(queries, k, exclude, timeline, watch);
    if (tell && queries.count > 0) tell({0, answers.neighbors.rows, answers.votes});
}

}  // namespace knn
