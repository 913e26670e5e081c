/// lp: sums of table lookups in double precision, for pairs that a cheap bound does not prune.
///
/// With d = |a - b| / 255 <= 1, S = Σ dᵖ is bounded from below by what kernels compute:
///     p <= 1       S >= Σ d,  as dᵖ >= d;
///     1 < p <= 2   S >= Σ d², as dᵖ >= d²;
///     p > 2        Σ d² <= n^(1 - 2/p) · S^(2/p), by the power mean inequality over the n pixels that
///     differ;
///                  n is at most the number of nonzero pixels of both images together.
/// So a pair whose count exceeds the bound of the query's limit cannot be below the limit.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/pack.h"
#include "cpu/scorer.h"

namespace knn::cpu {

namespace {

/// More than the rounding error: a sum of 66,051 terms is accurate to 10⁻¹¹.
constexpr double bound_slack = 1 + 1e-9;

std::int64_t ink_of(const std::uint8_t* row, std::int64_t dim) {
    return dim - std::count(row, row + dim, std::uint8_t{0});
}

/// (difference / 255)^p for differences -255 .. 255.
struct Powers {
    double p;
    std::array<double, 511> both;

    explicit Powers(double p_) : p(p_) {
        const std::array<double, 256> table = power_table(p);
        for (std::size_t v = 0; v < table.size(); ++v)
            both[255 + v] = both[255 - v] = table[v];
    }
    const double* center() const { return both.data() + 255; }
};

/// Pairs summed concurrently: a single sum would be bound by the latency of its additions.
constexpr std::size_t abreast = 4;
struct Pairs {
    const std::uint8_t *a[abreast], *b[abreast];
    double limits[abreast];
    double sums[abreast];
};

/// Adds the terms in pixel order; stops when all sums have reached their limits, since they never decrease.
void add_powers(Pairs& pairs, const Powers& powers, std::int64_t dim) {
    constexpr std::int64_t between_tests = 64;
    const double* const center = powers.center();
    double sums[abreast] = {};
    for (std::int64_t begin = 0; begin < dim; begin += between_tests) {
        const std::int64_t end = std::min(begin + between_tests, dim);
        for (std::int64_t i = begin; i < end; ++i)
            for (std::size_t n = 0; n < abreast; ++n)
                sums[n] += center[pairs.a[n][i] - pairs.b[n][i]];
        bool done = true;
        for (std::size_t n = 0; n < abreast; ++n)
            done = done && sums[n] >= pairs.limits[n];
        if (done) break;
    }
    std::copy_n(sums, abreast, pairs.sums);
}

std::uint32_t score_of(double sum) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(sum));
}

/// Sums of many pairs, `abreast` at a time; writes each score to its pair's output.
class Queue {
  public:
    Queue(const Powers& powers, std::int64_t dim) : powers_(powers), dim_(dim) {}

    void put(const std::uint8_t* a, const std::uint8_t* b, double limit, std::uint32_t* score) {
        pairs_.a[count_] = a;
        pairs_.b[count_] = b;
        pairs_.limits[count_] = limit;
        scores_[count_] = score;
        if (++count_ == abreast) flush();
    }
    void flush() {
        if (count_ == 0) return;
        for (std::size_t n = count_; n < abreast; ++n) {
            pairs_.a[n] = pairs_.a[0];
            pairs_.b[n] = pairs_.b[0];
            pairs_.limits[n] = pairs_.limits[0];
        }
        add_powers(pairs_, powers_, dim_);
        for (std::size_t n = 0; n < count_; ++n)
            *scores_[n] = score_of(pairs_.sums[n]);
        count_ = 0;
    }

  private:
    const Powers& powers_;
    std::int64_t dim_;
    Pairs pairs_;
    std::uint32_t* scores_[abreast];
    std::size_t count_ = 0;
};

/// Of the training images.
class PowerTerms {
  public:
    PowerTerms(double p, const Kernel& kernel_, Rows train_, bool panels)
        : kernel(kernel_),
          train(train_),
          powers(p),
          ink_(panels && p > 2
                   ? static_cast<std::size_t>(round_up(train.count, kernel.images) / kernel.images)
                   : 0) {
        if (p <= 2 || !panels) return;
        roots_.resize(static_cast<std::size_t>(train.dim) + 1);
        for (std::size_t n = 0; n < roots_.size(); ++n)
            roots_[n] = std::pow(static_cast<double>(n), 1 - 2 / p);
    }

    void fill(std::int64_t panel) {
        if (powers.p <= 2) return;
        const std::int64_t first = panel * kernel.images;
        std::int64_t& most = ink_[static_cast<std::size_t>(panel)];
        most = 0;
        for (std::int64_t i = first; i < std::min(first + kernel.images, train.count); ++i)
            most = std::max(most, ink_of(train.row(i), train.dim));
    }

    const Kernel& kernel;
    const Rows train;
    const Powers powers;
    /// n^(1 - 2/p), where n is the maximum number of pixels in which an image of the panel can differ from
    /// the query.
    double spread(std::int64_t panel, std::int64_t query_ink) const {
        if (powers.p <= 2) return 1;
        const std::int64_t n = std::min(train.dim, ink_[static_cast<std::size_t>(panel)] + query_ink);
        return roots_[static_cast<std::size_t>(n)];
    }

  private:
    Uninitialized<std::int64_t> ink_;  ///< per panel: nonzero pixels of an image, at most
    std::vector<double> roots_;        ///< n^(1 - 2/p) for n = 0 .. dim
};

class PowerScorer : public Scorer {
  public:
    PowerScorer(const PowerTerms& shared, std::int64_t max_block)
        : Scorer(shared.kernel, shared.train),
          shared_(shared),
          unit_(kernel_.arithmetic == Arithmetic::differences ? 255.0 : 65'025.0),
          counts_(static_cast<std::size_t>(round_up(max_block, kernel_.queries))),
          image_counts_(static_cast<std::size_t>(kernel_.images)),
          aims_(counts_.size()) {}

    void begin(Rows queries) override {
        Scorer::begin(queries);
        std::fill(aims_.begin(), aims_.end(), Aim{});
        if (shared_.powers.p <= 2) return;
        for (std::int64_t q = 0; q < queries.count; ++q)
            aims_[static_cast<std::size_t>(q)].ink = ink_of(queries.row(q), queries.dim);
    }

    void set_thresholds(Pass& pass, std::int64_t panel) override {
        query_limits_ = pass.limits;
        image_limits_ = pass.image_limits;
        for (std::size_t q = 0; q < static_cast<std::size_t>(pass.strips * kernel_.queries); ++q)
            counts_[q] = count_limit(aims_[q], pass.limits[q], panel);
        pass.limits = counts_.data();
        if (pass.image_limits == nullptr) return;
        for (std::int64_t i = 0; i < kernel_.images; ++i) {
            Aim aim;  // without ink: a set is not searched with itself for p > 2
            image_counts_[static_cast<std::size_t>(i)] = count_limit(aim, pass.image_limits[i], panel);
        }
        pass.image_limits = image_counts_.data();
    }

    void score(std::span<Hit> hits, std::int64_t panel) override {
        Queue queue(shared_.powers, train_.dim);
        for (Hit& hit : hits)
            for (std::uint32_t lanes = hit.lanes; lanes != 0; lanes &= lanes - 1) {
                const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
                const std::int64_t image = panel * kernel_.images + hit.first + lane;
                std::uint32_t limit = query_limits_[hit.query];  // scores are ordered as their bits are
                if (image_limits_ != nullptr) limit = std::max(limit, image_limits_[hit.first + lane]);
                if (image < train_.count)
                    queue.put(queries_.row(hit.query), train_.row(image), sum_of(limit), &hit.distance[lane]);
            }
        queue.flush();
    }

    void score_rows(std::int64_t query, std::int64_t first, std::span<std::uint32_t> scores) override {
        Queue queue(shared_.powers, train_.dim);
        for (std::size_t i = 0; i < scores.size(); ++i)
            queue.put(queries_.row(query), train_.row(first + static_cast<std::int64_t>(i)), sum_of(no_limit),
                      &scores[i]);
        queue.flush();
    }

  private:
    /// A query's limit, recomputed only when it changes.
    struct Aim {
        std::uint32_t limit = no_limit;
        double root = 0;  ///< the limit's sum, to the power of 2/p if p > 2
        std::int64_t ink = 0;
    };

    /// The sum of a score.
    static double sum_of(std::uint32_t score) {
        if (score >= first_no_number) return std::numeric_limits<double>::infinity();
        return std::bit_cast<float>(score);
    }

    std::uint32_t count_limit(Aim& aim, std::uint32_t limit, std::int64_t panel) const {
        if (limit == 0 || limit == no_limit) return limit;
        if (aim.limit != limit) {
            aim.limit = limit;
            aim.root = std::pow(sum_of(limit), std::min(1.0, 2 / shared_.powers.p));
        }
        const double most = unit_ * shared_.spread(panel, aim.ink) * aim.root * bound_slack + 1;
        return most < static_cast<double>(no_limit) ? static_cast<std::uint32_t>(most) : no_limit;
    }

    const PowerTerms& shared_;
    double unit_;  ///< count of a pixel with the largest difference
    const std::uint32_t *query_limits_ = nullptr, *image_limits_ = nullptr;  ///< scores, of the pass
    std::vector<std::uint32_t> counts_;                                      ///< the same as counts
    Uninitialized<std::uint32_t> image_counts_;
    std::vector<Aim> aims_;
};

}  // namespace

Scoring make_power_scoring(double p, const Kernel& kernel, Rows train, bool panels) {
    const auto terms = std::make_shared<PowerTerms>(p, kernel, train, panels);
    return {.scorer =
                [terms](std::int64_t max_block) { return std::make_unique<PowerScorer>(*terms, max_block); },
            .fill = [terms](std::int64_t panel) { terms->fill(panel); }};
}

}  // namespace knn::cpu
