#include "data/rerank/rerank.h"

#include "data/core/errors.h"
#include "data/core/format.h"

namespace knn {

std::string reranker_names() {
    return joined(name_list<RerankKind>) + "[:N:mean|deviation:times|plus:W]";
}

std::string reranker_text(const RerankSpec& rerank) {
    const std::string text = name(rerank.kind);
    return rerank.kind == RerankKind::spread ? text + spread_parameters(rerank.spread) : text;
}

void read_reranker(std::string_view option, std::string_view text, RerankSpec& rerank) {
    const std::string_view given = text.substr(0, text.find(':'));
    const auto kind = named<RerankKind>(given);
    const bool has_parameters = given.size() < text.size();
    if (!kind || (has_parameters && *kind != RerankKind::spread)) {
        throw UsageError(std::string(option) + ' ' + std::string(text) + ": " +
                         (kind ? std::string(given) + " takes no parameter" : "unknown re-ranker") +
                         "; expected " + reranker_names() + (kind ? "" : suggestion<RerankKind>(given)));
    }
    rerank.kind = *kind;
    rerank.spread = has_parameters ? parse_spread(option, text.substr(given.size() + 1)) : LocalScaling{};
}

}  // namespace knn
