#include "classifier/prototypes.h"

#include <algorithm>
#include <numeric>

#include "classifier/exact_distances.h"
#include "classifier/graph.h"
#include "cpu/host/host.h"
#include "data/core/format.h"
#include "data/core/problem.h"
#include "data/core/round_up.h"

namespace knn {

Indices all_indices(std::int64_t n) {
    Indices all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

LabeledImages copied(const Training& training, std::span<const std::uint32_t> images) {
    const auto row_bytes = static_cast<std::size_t>(training.rows.row_bytes());
    LabeledImages copy{std::ssize(images),   training.shape.rows,
                       training.shape.cols,  Bytes(images.size() * row_bytes),
                       Bytes(images.size()), training.rows.type};
    for (std::size_t i = 0; i < images.size(); ++i) {
        std::copy_n(training.rows.row(images[i]), row_bytes, copy.pixels.data() + i * row_bytes);
        copy.labels.data()[i] = training.labels[images[i]];
    }
    return copy;
}

SubsetSearch::SubsetSearch(const TrainingSet& set, const Method& method, const Resolved& resolved,
                           const ProgressToken& token)
    : resolved_(resolved), index_(set, method, resolved, token.quiet()) {
    Timeline timeline;
    features_ =
        set.features(method.transform, resolved.engine->on_gpu ? 0 : resolved.plan.threads, nullptr, timeline)
            .rows;
}

int SubsetSearch::depth(std::int64_t n) const {
    const int voters = method().voters(n);
    return method().reranks() ? index_.reranking().candidates(voters, n, false) : voters;
}

Neighbors SubsetSearch::nearest(std::span<const std::uint32_t> queries, std::span<const std::uint32_t> among,
                                int k, const ProgressToken& token, bool leave_out) const {
    // These and lists of them, or lists of all and of the kept images; copies of the rows.
    const std::int64_t lists = 2 * std::ssize(queries) * (k * std::int64_t{sizeof(Neighbor)} + list_bytes),
                       copies = (std::ssize(queries) + std::ssize(among)) * features_.row_bytes();
    cpu::require_memory(lists + copies,
                        [&] { return "the neighbors of " + std::to_string(queries.size()) + " images"; });
    const std::vector<std::uint8_t> train = gathered(features_, among);
    const Rows rows{train.data(), std::ssize(among), features_.dim, features_.type};
    std::vector<std::uint8_t> others;
    Queries wanted = rows;
    wanted.is_training_set = std::ranges::equal(queries, among);
    if (leave_out) {
        Indices places;
        for (const std::uint32_t query : queries)
            places.push_back(
                static_cast<std::uint32_t>(std::ranges::lower_bound(among, query) - among.begin()));
        wanted = Queries::some_of(rows, std::move(places));
    } else if (!wanted.is_training_set) {
        others = gathered(features_, queries);
        wanted.rows = {others.data(), std::ssize(queries), features_.dim, features_.type};
    }
    Timeline timeline;
    const auto index = resolved_.engine->open({rows, {}}, index_.method().measure, resolved_.plan, timeline);
    Neighbors found = nearest_of(*index, wanted, k, timeline, token);
    for (Neighbor& neighbor : found.rows)
        neighbor.index = among[neighbor.index];
    return found;
}

namespace {

/// At most what every engine finds, because distances from a kept image are searched as its nearest in the block.
constexpr std::int64_t block_images = 1024;
static_assert(block_images <= max_device_k);
constexpr std::size_t images_at_once = 4096;  ///< that are answered

using List = std::vector<Neighbor>;

/// The nearest of each image in a subset that changes, and the method's answer by them.
struct Lists {
    std::vector<List> nearest;
    std::vector<char> is_stale;         ///< whether the list has changed since its answer
    std::vector<std::uint8_t> answers;  ///< of the lists

    explicit Lists(std::int64_t n) : nearest(at(n)), is_stale(at(n)), answers(at(n)) {}

    Indices stale(std::span<const std::uint32_t> images) const {
        Indices stale;
        std::ranges::copy_if(images, std::back_inserter(stale), [&](auto i) { return is_stale[i]; });
        return stale;
    }
    /// `found`: the neighbors of `images`.
    void assign(std::span<const std::uint32_t> images, const Neighbors& found) {
        for (std::size_t i = 0; i < images.size(); ++i) {
            const auto row = found.row(static_cast<std::int64_t>(i));
            nearest[images[i]].assign(row.begin(), row.end());
            is_stale[images[i]] = true;
        }
    }
    /// Takes removed images out of the lists of `images`; returns those whose list is then shorter than `depth`.
    Indices remove(std::span<const std::uint32_t> images, const std::vector<char>& is_left,
                   std::size_t depth) {
        const auto is_removed = [&](const Neighbor& neighbor) { return !is_left[neighbor.index]; };
        Indices shorter;
        for (const std::uint32_t image : images) {
            List& list = nearest[image];
            const auto used = list.begin() + std::ptrdiff_t(std::min(depth, list.size()));
            if (std::any_of(list.begin(), used, is_removed)) is_stale[image] = true;
            std::erase_if(list, is_removed);
            if (list.size() < depth) shorter.push_back(image);
        }
        return shorter;
    }
    /// By the nearest `depth`.
    void answer(const SubsetSearch& set, std::span<const std::uint32_t> images, std::size_t depth,
                const ProgressToken& token) {
        for (std::size_t first = 0; first < images.size(); first += images_at_once) {
            token.step(static_cast<std::int64_t>(first), std::ssize(images));
            const auto some = images.subspan(first, std::min(images_at_once, images.size() - first));
            Neighbors rows(std::ssize(some), static_cast<int>(depth));
            for (std::size_t i = 0; i < some.size(); ++i)
                std::copy_n(nearest[some[i]].begin(), depth, rows.rows.begin() + std::ptrdiff_t(i * depth));
            const std::vector<std::uint8_t> labels = set.answers(some, rows, token);
            for (std::size_t i = 0; i < some.size(); ++i) {
                answers[some[i]] = labels[i];
                is_stale[some[i]] = false;
            }
        }
    }
};

class Condenser {
  public:
    Condenser(const SubsetSearch& set, const ProgressToken& token)
        : set_(set),
          token_(token),
          all_(all_indices(set.size())),
          order_{set.method().measure, set.features()},
          depth_(at(set.depth(set.size()))),
          whole_(set.size()),
          lists_(set.size()),
          is_kept_(all_.size()) {
        whole_.assign(all_, set.nearest(all_, all_, set.depth(set.size()), token));
        whole_.answer(set, all_, depth_, token);
        seen_.resize(at(divide_up(set.size(), block_images)));
        for (std::uint32_t i = 0; i < fewest(); ++i)
            keep(i);
    }

    /// Visits all images; returns whether one was kept.
    bool pass() {
        const std::size_t before = kept_.size();
        for (std::int64_t first = 0; first < set_.size(); first += block_images) {
            token_.step(first, set_.size());
            catch_up(first);
            visit(first);
        }
        return kept_.size() > before;
    }

    /// Keeps the next image for `image`; false: all are kept.
    bool keep_for(std::uint32_t image) {
        for (const Neighbor& neighbor : whole_.nearest[image])
            if (!is_kept_[neighbor.index]) return keep(neighbor.index), true;
        const auto any = std::find(is_kept_.begin(), is_kept_.end(), 0);
        if (any == is_kept_.end()) return false;
        keep(static_cast<std::uint32_t>(any - is_kept_.begin()));
        return true;
    }

    /// The answers of the whole set.
    const std::vector<std::uint8_t>& wanted() const { return whole_.answers; }
    Indices kept() const {
        Indices sorted = kept_;
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }

  private:
    std::span<const std::uint32_t> block_at(std::int64_t first) const {
        return std::span(all_).subspan(at(first), at(std::min(block_images, set_.size() - first)));
    }
    /// k, or more if the transform cannot be fitted on so few.
    std::uint32_t fewest() const {
        const Method& method = set_.method();
        std::int64_t n = method.vote.k;
        while (refuse_transform(method.transform, set_.training().shape, n))
            ++n;
        return static_cast<std::uint32_t>(n);
    }
    void keep(std::uint32_t image) {
        is_kept_[image] = true;
        kept_.push_back(image);
    }
    void insert(std::uint32_t image, const Neighbor& neighbor) {
        List& list = lists_.nearest[image];
        list.reserve(depth_ + 1);  // growing would take up to twice as much
        const ComparedNeighbor added = neighbor;
        const auto is_before = [&](const ComparedNeighbor& a, const ComparedNeighbor& b) {
            return order_(image, a, b);
        };
        if (list.size() >= depth_ && is_before(list.back(), added)) return;
        list.insert(std::lower_bound(list.begin(), list.end(), added, is_before), neighbor);
        if (list.size() > depth_) list.pop_back();
        lists_.is_stale[image] = true;
    }
    /// All lists are equally long.
    void answer(std::span<const std::uint32_t> images) {
        lists_.answer(set_, images, lists_.nearest[images[0]].size(), token_.quiet());
    }

    /// Completes the lists of a block by the images that were kept since its last visit, and answers again where one
    /// of them is near.
    void catch_up(std::int64_t first) {
        std::size_t& seen = seen_[at(first / block_images)];
        if (seen == kept_.size()) return;
        const auto block = block_at(first);
        Indices fresh(kept_.begin() + static_cast<std::ptrdiff_t>(seen), kept_.end());
        seen = kept_.size();
        std::sort(fresh.begin(), fresh.end());
        const auto k = static_cast<int>(std::min(depth_, fresh.size()));
        const Neighbors found = set_.nearest(block, fresh, k, token_.quiet());
        for (std::size_t i = 0; i < block.size(); ++i)
            for (const Neighbor& neighbor : found.row(static_cast<std::int64_t>(i)))
                insert(block[i], neighbor);
        if (const Indices stale = lists_.stale(block); !stale.empty()) answer(stale);
    }

    void visit(std::int64_t first) {
        const auto block = block_at(first);
        const Rows rows = set_.features().slice(first, std::ssize(block));
        const auto k = static_cast<int>(rows.count);
        std::unique_ptr<DeviceIndex> index;
        Timeline timeline;
        for (const std::uint32_t image : block) {
            if (lists_.is_stale[image]) answer({&image, 1});
            if (lists_.answers[image] == wanted()[image]) continue;
            if (!index) index = open_on_cpu(rows, 1, k, set_.method().measure, 1);
            keep_for(image);
            const std::uint32_t kept = kept_.back();
            const Neighbors near_kept = nearest_of(*index, set_.features().slice(kept, 1), k, timeline, {});
            for (const Neighbor& near : near_kept.rows)
                insert(block[near.index], {near.distance, kept});
        }
        if (index) seen_[at(first / block_images)] = kept_.size();
    }

    const SubsetSearch& set_;
    const ProgressToken& token_;
    Indices all_;
    NeighborOrder order_;
    std::size_t depth_;
    Lists whole_;                    ///< in the whole set
    Indices kept_;                   ///< in the order in which they were kept
    std::vector<std::size_t> seen_;  ///< by block: how many of them are in its lists
    Lists lists_;                    ///< in those
    std::vector<char> is_kept_;
};

/// Whether the training set decides more than what is a neighbor; for the vote class-mean, which classes are small.
bool fits(const Method& method) {
    return method.transform.is_fitted() || (method.reranks() && method.rerank.density) ||
           method.vote.votes == VoteKind::class_mean;
}

/// What the kept set answers, opened as another program run would: to all images, or to its own by leave-one-out.
Uninitialized<Vote> answers_of(const SubsetSearch& set, const Indices& kept, bool leave_out,
                               const ProgressToken& token) {
    const LabeledImages images = copied(set.training(), kept);
    const TrainingSet training({images.images(), images.labels.span(), images.shape()});
    const Index index(training, set.method(), set.resolved());
    return leave_out ? index.search(Queries::all_of(images.images()), {.token = token}).votes
                     : index.search(set.training().rows, {.token = token}).votes;
}

/// Neighbors that are searched beyond those that an answer needs, for those that will be removed.
constexpr std::int64_t spare = 32;

}  // namespace

Condensed condense(const SubsetSearch& set, const ProgressToken& token) {
    const int k = set.method().vote.k;
    if (k > set.size())
        throw UsageError("§k " + std::to_string(k) + ": the set has " + with_commas(set.size()) +
                         " images; expected at most that many");
    Condenser condenser(set, token);
    Condensed condensed;
    do
        ++condensed.passes;
    while (condenser.pass());
    for (bool differs = fits(set.method()); differs;) {
        ++condensed.refits;
        const Uninitialized<Vote> votes = answers_of(set, condenser.kept(), false, token);
        differs = false;
        for (std::uint32_t image = 0; image < votes.size(); ++image) {
            if (votes[image].label == condenser.wanted()[image]) continue;
            if (condenser.keep_for(image)) differs = true;
        }
    }
    condensed.kept = condenser.kept();
    return condensed;
}

Edited edit(const SubsetSearch& set, const ProgressToken& token) {
    const int k = set.method().vote.k;
    require_others(k, set.size());
    Edited edited{.kept = all_indices(set.size()), .removed = {}};
    Indices& left = edited.kept;
    std::vector<char> is_left(left.size(), true);
    Lists others(set.size());  // of each image that is left, the nearest; at first all are too short
    while (true) {
        const std::int64_t n_others = std::ssize(left) - 1, depth = set.depth(n_others);
        if (const Indices shorter = others.remove(left, is_left, at(depth)); !shorter.empty()) {
            const auto wanted = static_cast<int>(
                std::min({depth + spare, n_others, std::int64_t{set.resolved().engine->can.max_k}}));
            others.assign(shorter, set.nearest(shorter, left, wanted, token, true));
        }
        others.answer(set, others.stale(left), at(depth), token);
        for (const std::uint32_t image : left)
            is_left[image] = others.answers[image] == set.training().labels[image];
        const auto remove = [&] {
            return std::erase_if(left, [&](std::uint32_t image) { return !is_left[image]; });
        };
        std::size_t removed = remove();
        // With classes that have become small, another sum decides.
        if (removed == 0 && set.method().vote.votes == VoteKind::class_mean) {
            const Uninitialized<Vote> votes = answers_of(set, left, true, token);
            for (std::size_t i = 0; i < left.size(); ++i)
                is_left[left[i]] = votes[i].label == set.training().labels[left[i]];
            removed = remove();
        }
        if (removed == 0) return edited;
        edited.removed.push_back(static_cast<std::int64_t>(removed));
        if (std::ssize(left) <= k)
            throw DataError("editing: leaves " + with_commas(std::ssize(left)) + " of " +
                            with_commas(set.size()) + " at -k " + std::to_string(k) +
                            "; expected more than " + std::to_string(k) +
                            " whose neighbors have their label");
    }
}

Prototypes select_prototypes(const TrainingSet& training, const Method& method, const Resolved& resolved,
                             PrototypeRule rule, const ProgressToken& token) {
    Prototypes reduced{.rule = rule, .kept = all_indices(training.size()), .edited = {}, .passes = {}};
    if (rule != PrototypeRule::condense) {
        reduced.edited = edit(SubsetSearch(training, method, resolved, token), token);
        reduced.kept = reduced.edited.kept;
    }
    if (rule == PrototypeRule::edit) return reduced;
    const LabeledImages left = copied(training.view(), reduced.kept);
    const TrainingSet rest({left.images(), left.labels.span(), left.shape()});
    reduced.passes = condense(SubsetSearch(rest, method, resolved, token), token);
    Indices kept;
    for (const std::uint32_t image : reduced.passes.kept)
        kept.push_back(reduced.kept[image]);
    reduced.kept = std::move(kept);
    return reduced;
}

}  // namespace knn
