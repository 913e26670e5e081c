#include "classifier/edit.h"

#include <algorithm>

#include "cpu/search.h"
#include "data/core/format.h"
#include "data/core/problem.h"

namespace knn {

namespace {

/// Neighbors that are searched beyond those that an answer needs, for those that will be removed.
constexpr int spare = 32;
constexpr std::size_t images_at_once = 4096;

class Editor {
  public:
    Editor(const SubsetSearch& set, const Watch& watch)
        : set_(set),
          watch_(watch),
          left_(all_indices(set.size())),
          is_left_(left_.size(), true),
          is_stale_(left_.size(), true),
          is_wrong_(left_.size()) {
        const auto others = static_cast<int>(std::min<std::int64_t>(set.size() - 1, max_k));
        const int k = std::min(set.depth(set.size() - 1) + spare, others);
        const Neighbors found = set.nearest_others(k, watch);
        lists_.resize(left_.size());
        for (const std::uint32_t image : left_)
            lists_[image].assign(found.row(image).begin(), found.row(image).end());
    }

    /// Returns how many images are removed.
    std::int64_t round() {
        complete_lists();
        answer();
        for (const std::uint32_t image : left_)
            is_left_[image] = !is_wrong_[image];
        const std::int64_t before = std::ssize(left_);
        std::erase_if(left_, [&](std::uint32_t image) { return !is_left_[image]; });
        return before - std::ssize(left_);
    }
    const Indices& left() const { return left_; }

  private:
    /// Of the others that are left.
    std::size_t depth() const { return static_cast<std::size_t>(set_.depth(std::ssize(left_) - 1)); }

    /// Takes removed images out of the lists and searches again for those that have become too short.
    void complete_lists() {
        Indices shorter;
        for (const std::uint32_t image : left_) {
            std::vector<Neighbor>& list = lists_[image];
            const auto is_removed = [&](const Neighbor& neighbor) { return !is_left_[neighbor.index]; };
            const auto used = list.begin() + static_cast<std::ptrdiff_t>(std::min(depth(), list.size()));
            is_stale_[image] = is_stale_[image] || std::any_of(list.begin(), used, is_removed);
            std::erase_if(list, is_removed);
            if (list.size() < depth()) shorter.push_back(image);
        }
        if (shorter.empty()) return;
        const std::int64_t most = std::min<std::int64_t>(max_k, std::ssize(left_));
        const auto k = static_cast<int>(std::min<std::int64_t>(std::ssize(left_), most));
        const int wanted = std::min(k, static_cast<int>(depth()) + 1 + spare);
        const Neighbors found = set_.nearest(shorter, left_, wanted, watch_);
        for (std::size_t i = 0; i < shorter.size(); ++i)
            lists_[shorter[i]] = without(shorter[i], found.row(static_cast<std::int64_t>(i)));
    }
    /// The k - 1 nearest others: `row` has the k nearest of a set that has the image itself, which equal images may have
    /// pushed out of them.
    static std::vector<Neighbor> without(std::uint32_t image, std::span<const Neighbor> row) {
        std::vector<Neighbor> others;
        for (const Neighbor& neighbor : row)
            if (neighbor.index != image) others.push_back(neighbor);
        others.resize(row.size() - 1);
        return others;
    }

    /// Answers again where neighbors have changed.
    void answer() {
        Indices stale;
        for (const std::uint32_t image : left_)
            if (is_stale_[image]) stale.push_back(image);
        for (std::size_t first = 0; first < stale.size(); first += images_at_once) {
            watch_.step(static_cast<std::int64_t>(first), std::ssize(stale));
            const auto some = std::span(stale).subspan(first, std::min(images_at_once, stale.size() - first));
            Neighbors nearest(std::ssize(some), static_cast<int>(depth()));
            for (std::size_t i = 0; i < some.size(); ++i)
                std::copy_n(lists_[some[i]].begin(), depth(),
                            nearest.row(static_cast<std::int64_t>(i)).begin());
            const std::vector<std::uint8_t> answers = set_.answers(some, nearest);
            for (std::size_t i = 0; i < some.size(); ++i) {
                is_wrong_[some[i]] = answers[i] != set_.training().labels[some[i]];
                is_stale_[some[i]] = false;
            }
        }
    }

    const SubsetSearch& set_;
    const Watch& watch_;
    Indices left_;
    std::vector<char> is_left_, is_stale_, is_wrong_;
    std::vector<std::vector<Neighbor>> lists_;  ///< of each image that is left, the nearest others
};

}  // namespace

Edited edit(const SubsetSearch& set, const Watch& watch) {
    const int k = set.method().vote.k;
    require_others(k, set.size());
    Editor editor(set, watch);
    Edited edited;
    while (const std::int64_t removed = editor.round()) {
        edited.removed.push_back(removed);
        const std::int64_t left = std::ssize(editor.left());
        if (left <= k)
            throw DataError("editing: leaves " + with_commas(left) + " of " + with_commas(set.size()) +
                            " images at -k " + std::to_string(k) +
                            "; expected classes whose images are neighbors of each other");
    }
    edited.kept = editor.left();
    return edited;
}

}  // namespace knn
