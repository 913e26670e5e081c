#include "classifier/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cpu/host/threads.h"

namespace knn {

namespace {

double positive_distance(const Measure& measure, std::uint32_t score) {
    return std::max(distance_of(measure, score), is_integral(measure.metric) ? 1.0 : 1e-9);
}

/// The nearest j neighbors of one class; where it has fewer, the distance `missing` counts for each that it lacks.
struct ClassSum {
    std::uint8_t label;
    int count;
    double sum;

    double with_missing(int j, double missing) const { return sum + (j - count) * missing; }
};

/// Of the classes that are among the neighbors: few, as a rule, so that a search beats a table of 256 labels.
class ClassSums {
  public:
    void add(std::uint8_t label, double distance, int j) {
        ClassSum* const end = classes_.data() + n_;
        ClassSum* one = std::find_if(classes_.data(), end, [&](const auto& c) { return c.label == label; });
        if (one == end) *one = {label, 0, 0}, ++n_;
        if (one->count == j) return;
        ++one->count;
        one->sum += distance;
    }
    std::span<const ClassSum> all() const { return {classes_.data(), n_}; }

  private:
    std::array<ClassSum, 256> classes_;
    std::size_t n_ = 0;
};

/// The distance of the winner's class, and that of the nearest other; infinite without one.
struct TwoClasses {
    double own = HUGE_VAL, other = HUGE_VAL;

    void add(bool is_own, double distance) {
        double& least = is_own ? own : other;
        least = std::min(least, distance);
    }
};

}  // namespace

Evidence evidence(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, const Vote& vote,
                  const VotingRule& rule, const Measure& measure) {
    const bool means = rule.votes == Votes::class_mean;
    const int j = means ? rule.k : 1;
    ClassSums classes;
    TwoClasses two;
    double sum = 0, last = 0;  // of the nearest k; of the last neighbor
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
        last = positive_distance(measure, neighbors[i].distance);
        if (i < static_cast<std::size_t>(rule.k)) sum += last;
        const std::uint8_t label = labels[neighbors[i].index];
        if (means)
            classes.add(label, last, j);
        else
            two.add(label == vote.label, last);
    }
    for (const ClassSum& one : classes.all())
        two.add(one.label == vote.label, one.with_missing(j, last));
    const bool alone = std::isinf(two.other);
    const std::size_t nearest = std::min(neighbors.size(), static_cast<std::size_t>(rule.k));
    return {.share = vote.confidence,
            .distance = std::log(sum / static_cast<double>(nearest)),
            .margin = std::log((alone ? j * last : two.other) / two.own),
            .alone = alone ? 1.0 : 0.0};
}

void evidence_of_rows(std::span<const Neighbor> neighbors, int k, std::span<const std::uint8_t> labels,
                      std::span<const Vote> votes, const VotingRule& rule, const Measure& measure,
                      int threads, std::span<Evidence> all) {
    const auto length = static_cast<std::size_t>(k);
    cpu::for_lists(std::ssize(all), k, threads, [&](std::int64_t first, std::int64_t last) {
        for (auto q = static_cast<std::size_t>(first); q < static_cast<std::size_t>(last); ++q)
            all[q] = evidence(neighbors.subspan(q * length, length), labels, votes[q], rule, measure);
    });
}

}  // namespace knn
