#include "classifier/reduce.h"

namespace knn {

Reduced reduce(const TrainingSet& training, const Method& method, const Resolved& resolved, ReduceRule rule,
               const Watch& watch) {
    Reduced reduced{.rule = rule, .kept = all_indices(training.size()), .edited = {}, .passes = {}};
    if (rule != ReduceRule::condense) {
        reduced.edited = edit(SubsetSearch(training, method, resolved, watch), watch);
        reduced.kept = reduced.edited.kept;
    }
    if (rule == ReduceRule::edit) return reduced;
    const LabeledImages left = copied(training.view(), reduced.kept);
    const TrainingSet rest({left.images(), left.labels.span(), left.shape()});
    reduced.passes = condense(SubsetSearch(rest, method, resolved, watch), watch);
    Indices kept;
    for (const std::uint32_t image : reduced.passes.kept)
        kept.push_back(reduced.kept[image]);
    reduced.kept = std::move(kept);
    return reduced;
}

}  // namespace knn
