/// Cosine and pearson: exact products and sums, cosine_score of the candidates.

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/pack.h"
#include "cpu/scorer.h"

namespace knn::cpu {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// More than the rounding error of 1 - floor / norm, about 10⁻¹⁵.
constexpr double cosine_slack = 1e-12;

/// Of the training images.
struct ProductTerms {
    ProductTerms(bool centered, const Kernel& kernel_, Rows train_, bool panels)
        : kernel(kernel_),
          train(train_),
          correlation{centered, train.dim},
          sums(static_cast<std::size_t>(panels ? round_up(train.count, kernel.images) : 0)),
          plain(sums.size()),
          weights(sums.size()) {}

    void fill(std::int64_t panel) {
        for (std::int64_t i = panel * kernel.images; i < (panel + 1) * kernel.images; ++i) {
            const auto at = static_cast<std::size_t>(i);
            sums[at] = i < train.count ? sums_of(train.row(i), train.dim) : PixelSums{};
            const auto norm = static_cast<double>(correlation.norm(sums[at]));
            plain[at] = correlation.centered ? sums[at].plain : 0.0;
            weights[at] = norm > 0 ? 1.0 / std::sqrt(norm) : 0.0;
        }
    }

    const Kernel& kernel;
    const Rows train;
    const Correlation correlation;
    Uninitialized<PixelSums> sums;
    Uninitialized<double> plain;    ///< Σp for pearson, 0 for cosine
    Uninitialized<double> weights;  ///< 1 / norm; 0 if the norm is 0
};

class ProductScorer : public Scorer {
  public:
    ProductScorer(const ProductTerms& shared, std::int64_t max_block)
        : Scorer(shared.kernel, shared.train),
          shared_(shared),
          query_sums_(static_cast<std::size_t>(round_up(max_block, kernel_.queries))),
          plain_(query_sums_.size()),
          norms_(query_sums_.size()),
          floors_(query_sums_.size()),
          weights_(query_sums_.size()),
          image_floors_(static_cast<std::size_t>(kernel_.images)) {}

    void begin(Rows queries) override {
        Scorer::begin(queries);
        for (std::size_t q = 0; q < static_cast<std::size_t>(queries.count); ++q) {
            const PixelSums sums = sums_of(queries.row(static_cast<std::int64_t>(q)), queries.dim);
            query_sums_[q] = sums;
            plain_[q] = sums.plain;
            norms_[q] = std::sqrt(static_cast<double>(shared_.correlation.norm(sums)));
            weights_[q] = norms_[q] > 0 ? 1.0 / norms_[q] : 0.0;
        }
    }

    void set_thresholds(Pass& pass, std::int64_t panel) override {
        const std::int64_t first = panel * kernel_.images;
        for (std::size_t q = 0; q < static_cast<std::size_t>(pass.strips * kernel_.queries); ++q)
            floors_[q] = floor_of(pass.limits[q], norms_[q]);
        pass.floors = {shared_.correlation.centered ? static_cast<double>(shared_.correlation.dim) : 1.0,
                       shared_.plain.data() + first, shared_.weights.data() + first, plain_.data(),
                       floors_.data()};
        if (pass.image_limits == nullptr) return;
        for (std::int64_t i = 0; i < kernel_.images; ++i) {
            const PixelSums& sums = shared_.sums[static_cast<std::size_t>(first + i)];
            const double norm = std::sqrt(static_cast<double>(shared_.correlation.norm(sums)));
            image_floors_[static_cast<std::size_t>(i)] = floor_of(pass.image_limits[i], norm);
        }
        pass.floors.query_weights = weights_.data();
        pass.floors.image_floors = image_floors_.data();
    }

    void score(std::span<Hit> hits, std::int64_t panel) override {
        for (Hit& hit : hits)
            for (std::uint32_t lanes = hit.lanes; lanes != 0; lanes &= lanes - 1) {
                const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
                const PixelSums& image =
                    shared_.sums[static_cast<std::size_t>(panel * kernel_.images + hit.first + lane)];
                hit.distance[lane] =
                    shared_.correlation.score(hit.distance[lane], query_sums_[hit.query], image);
            }
    }

    void begin_rows(std::int64_t first, std::int64_t n) override {
        row_sums_.resize(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i)
            row_sums_[static_cast<std::size_t>(i)] = sums_of(train_.row(first + i), train_.dim);
    }

    void score_rows(std::int64_t query, std::int64_t first, std::span<std::uint32_t> scores) override {
        Scorer::score_rows(query, first, scores);  // the products
        for (std::size_t i = 0; i < scores.size(); ++i)
            scores[i] = shared_.correlation.score(scores[i], query_sums_[static_cast<std::size_t>(query)],
                                                  row_sums_[i]);
    }

  private:
    /// The minimum of norm_a · norm_b · (1 - score) / norm_b for a score below the limit.
    static double floor_of(std::uint32_t limit, double norm) {
        if (limit == 0) return never;
        if (limit >= first_no_number) return -never;
        if (norm == 0) return std::bit_cast<float>(limit) > 1 ? -never : never;  // all are at distance 1
        return (1 - double{std::bit_cast<float>(limit)} - cosine_slack) * norm;
    }

    const ProductTerms& shared_;
    std::vector<PixelSums> query_sums_;
    std::vector<double> plain_, norms_, floors_;
    std::vector<double> weights_;  ///< 1 / norm; 0 if the norm is 0
    Uninitialized<double> image_floors_;
    std::vector<PixelSums> row_sums_;
};

}  // namespace

Scoring make_product_scoring(Metric metric, const Kernel& kernel, Rows train, bool panels) {
    const auto terms = std::make_shared<ProductTerms>(metric == Metric::pearson, kernel, train, panels);
    return {
        .scorer =
            [terms](std::int64_t max_block) { return std::make_unique<ProductScorer>(*terms, max_block); },
        .fill = [terms](std::int64_t panel) { terms->fill(panel); }};
}

}  // namespace knn::cpu
