#include "data/core/searcher.h"

#include <stdexcept>

namespace knn {

Answers Searcher::search_and_vote(const Rows&, const VotingRule&, Exclude, Timeline&, const Watch&) {
    throw std::logic_error("this searcher does not vote");
}

}  // namespace knn
