#pragma once
/// What a classifier computes, and the table of named methods.

#include <span>
#include <string>
#include <string_view>

#include "data/core/device_index.h"
#include "data/core/metric.h"
#include "data/core/problem.h"
#include "data/core/voting.h"
#include "data/rerank/rerank.h"
#include "data/transform/spec.h"

namespace knn {

/// The same method gives the same answers on every engine and device.
struct Method {
    TransformSpec transform = {};
    Measure measure = {};  ///< of the search
    RerankSpec rerank = {};
    VotingRule vote = {};

    /// The search among `training` for this many queries. Throws UsageError if the transform does not suit the
    /// images.
    Problem problem(const Training& training, std::int64_t n_query) const;
    /// The type of what is compared, where rows have this type.
    ElementType compared_type(ElementType rows) const {
        return transform.makes_reals() ? ElementType::float64 : rows;
    }
    bool reranks() const { return rerank.kind != RerankKind::none; }
    /// What of it compares pixels beside each other, which only images have: "§transform gradients"; empty: nothing.
    std::string part_for_images() const;
    /// The measure of the neighbors' distances: distances of descriptors are integers like squared distances; scaled
    /// distances keep the search's measure.
    Measure neighbor_measure() const { return rerank.has_descriptors() ? Measure{} : measure; }
    /// Candidates that are re-ranked or vote: class-mean alone takes at least k.
    int candidates() const {
        const bool widens = vote.votes == VoteKind::class_mean && !reranks();
        return widens ? std::max(rerank.candidates, vote.k) : rerank.candidates;
    }
    /// The neighbors that the vote reads: k, or all candidates, of which there are `n` at most.
    int voters(std::int64_t n) const;
    friend bool operator==(const Method&, const Method&) = default;
};

struct NamedMethod {
    const char* name;
    const char* summary;
    Method method;
};
/// `raw`, the papers' classifier, comes first.
std::span<const NamedMethod> methods();

/// Whether a text is the name of a file rather than of a method: no method has it, and it has a dot or slash or is a file that is there.
bool is_method_file(const std::string& given);

/// The name of the method in the table that equals this one, else "custom".
std::string_view name_of(const Method& method);

// A method as a small text that people can read and edit: what `tune --save` writes and `--method FILE` reads.
//
//     mnist-knn method 1
//     # any comment
//     transform gradients
//     rerank none
//     candidates 96
//     metric l2
//     vote majority
//     k 5
//     weights uniform
//     tie smallest
//
// One "NAME VALUE" a line, with the values of the options of the same names; every name once, in any order. `p` is
// there with the metric lp alone. Lines that begin with '#' and empty lines mean nothing.

/// The text of a method; `comment`: one line, or empty.
std::string method_text(const Method& method, std::string_view comment = {});

/// Reads it back. Throws DataError "FILE: line N: what is wrong; what was expected".
Method parse_method_text(std::string_view text, const std::string& file);

/// No method needs more.
inline constexpr std::size_t max_method_bytes = 64 << 10;

}  // namespace knn
