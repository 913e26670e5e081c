#pragma once
/// Makes a training set smaller: edited, condensed, or first edited and then condensed.

#include <string>

#include "classifier/condense.h"
#include "classifier/edit.h"
#include "data/core/names.h"

namespace knn {

enum class ReduceRule { edit, condense, both };
template <>
struct Names<ReduceRule> {
    static constexpr std::array list{"edit", "condense", "both"};
};

struct Reduced {
    ReduceRule rule = ReduceRule::both;
    Indices kept;      ///< ascending, of the whole set
    Edited edited;     ///< if `rule` edits
    Condensed passes;  ///< if `rule` condenses; its indices are those of the edited set
};

/// After editing, what a method fits on a training set is fitted on the edited one. Throws as `edit` and `condense`.
Reduced reduce(const TrainingSet& training, const Method& method, const Resolved& resolved, ReduceRule rule,
               const Watch& watch);

}  // namespace knn
