#include "cpu/rerank/rerank.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpu/host/host.h"
#include "cpu/host/threads.h"
#include "cpu/lanes/kernel.h"
#include "cpu/transform/transform.h"
#include "data/core/round_up.h"
#include "data/rerank/density.h"
#include "data/rerank/distance.h"

namespace knn::cpu {

namespace {

constexpr std::int64_t described_at_once = 64, queries_at_once = 8;  // by one thread

static_assert(RerankShape::step == gradient_step && RerankShape::step == cell_pixels &&
              RerankShape::window == distortion_window && RerankShape::context == distortion_context);

template <class T>
Uninitialized<T> zeros(std::int64_t size) {
    return Uninitialized<T>(static_cast<std::size_t>(size), T{0});
}

/// Two bytes of a descriptor in each half of 32 bits.
std::uint32_t twice(const std::uint8_t* pair) {
    std::uint16_t unit;
    std::memcpy(&unit, pair, sizeof unit);
    return unit | std::uint32_t{unit} << 16;
}

RerankShape rerank_shape(ImageShape image) {
    return {image.rows, image.cols, (image.rows + 1) / 2, (image.cols + 1) / 2};
}

/// One thread's memory for the descriptor of an image.
class DescribeMemory {
  public:
    explicit DescribeMemory(const RerankShape& shape) {
        const std::int64_t stride = round_up(shape.cols + 4, row_block), rows = shape.rows;
        padded_ = zeros<std::int16_t>((rows + 2) * stride + row_block);
        gradients_ = zeros<std::int16_t>(2 * stride);
        levels_ = zeros<std::int8_t>(2 * (rows + 2) * stride + row_block);
        shares_ = zeros<std::uint16_t>((rows + 1) * 8 * stride + row_block);
        values_ = zeros<std::uint8_t>(8 * stride);
        work_ = {.stride = stride,
                 .padded = padded_.data(),
                 .gx = gradients_.data(),
                 .gy = gradients_.data() + stride,
                 .levels = levels_.data() + 2 * stride,
                 .boxes = levels_.data(),
                 .shares = shares_.data(),
                 .column = shares_.data() + rows * 8 * stride,
                 .values = values_.data()};
    }
    const DescribeWork& work() const { return work_; }

  private:
    Uninitialized<std::int16_t> padded_, gradients_;
    Uninitialized<std::int8_t> levels_;
    Uninitialized<std::uint16_t> shares_;
    Uninitialized<std::uint8_t> values_;
    DescribeWork work_;
};

/// The k nearest by new distances: rescore(thread, query, row) replaces those of one query's candidates.
template <class Rescore>
Neighbors ordered_again(const Neighbors& candidates, int k, int threads, const ProgressToken& token,
                        const Rescore& rescore) {
    if (k < 1 || k > candidates.k)
        throw std::invalid_argument("k = " + std::to_string(k) + " of " + std::to_string(candidates.k) +
                                    " candidates");
    const std::int64_t n = candidates.n_query;
    try {
        Neighbors nearest(n, k);
        Team team(team_size(threads, n, queries_at_once), token, n, 1);
        team.run_pieces(n, queries_at_once, [&](int thread, std::int64_t first, std::int64_t last) {
            std::vector<Neighbor> row;
            for (std::int64_t q = first; q < last; ++q) {
                row.assign(candidates.row(q).begin(), candidates.row(q).end());
                rescore(thread, q, std::span(row));
                std::partial_sort_copy(row.begin(), row.end(), nearest.row(q).begin(), nearest.row(q).end());
            }
            team.advance(thread, last - first);
        });
        return nearest;
    } catch (const std::bad_alloc&) {
        throw_out_of_memory("re-ranking of " + std::to_string(n) + " images");
    }
}

/// One part of each descriptor; `to`: of the first image.
void describe_part(const DescriptorLayout& layout, decltype(RerankKernel::describe_cells) part, double slant,
                   const Rows& images, std::uint8_t* to, int threads, const std::atomic<bool>* stop) {
    FittedTransform deskew{.spec = {}, .image = layout.image, .steps = {}};
    append_step(deskew, {TransformKind::deskew, slant});
    const std::vector<std::uint8_t> straight = features(deskew, images, threads, stop);
    const RerankShape shape = rerank_shape(layout.image);
    const std::int64_t piece = piece_for_all(images.count, threads, described_at_once);
    for_rows(images.count, piece, threads, stop, [&](std::int64_t first, std::int64_t last) {
        const DescribeMemory memory(shape);
        for (std::int64_t i = first; i < last; ++i)
            part(shape, straight.data() + i * images.dim, memory.work(), to + i * layout.bytes());
    });
}

/// One query after another, on one thread.
class Worker {
  public:
    Worker(const Descriptors& queries, const Descriptors& train, std::span<const std::uint32_t> density)
        : queries_(queries),
          train_(train),
          density_(density),
          kernel_(chosen_lanes().rerank),
          shape_(rerank_shape(train.layout.image)),
          parts_(static_cast<std::size_t>(kernel_.lanes)),
          scores_(static_cast<std::size_t>(kernel_.lanes)) {
        allocate();
    }

    /// Replaces the distances of the query's candidates.
    void run(std::int64_t query, std::span<Neighbor> candidates) {
        set_query(queries_.row(query));
        const auto lanes = static_cast<std::size_t>(kernel_.lanes);
        for (std::size_t first = 0; first < candidates.size(); first += lanes)
            score(candidates.subspan(first, std::min(lanes, candidates.size() - first)));
    }

  private:
    /// The kernels' memory, for a query and as many candidates as the kernel has lanes.
    void allocate() {
        const int lanes = kernel_.lanes;
        const std::int64_t points = std::int64_t{shape_.grid_rows} * shape_.grid_cols;
        const std::int64_t padded_cells = std::int64_t{shape_.grid_rows + 2} * (shape_.grid_cols + 2);
        if (train_.layout.has_gradients) {
            const std::int64_t height = shape_.grid_rows + 2 * shape_.context;
            const std::int64_t width = shape_.grid_cols + 2 * shape_.context;
            const std::int64_t plane =
                std::int64_t{shape_.grid_rows + 2 * shape_.border} * (shape_.grid_cols + 2 * shape_.border);
            gradients_ = zeros<std::uint32_t>(height * width);
            planes_ = zeros<std::uint16_t>(shape_.step * shape_.step * plane * lanes);
            least_ = zeros<std::uint16_t>(points * lanes);
            squares_ = zeros<std::uint16_t>((2 * shape_.context + 1) * width * lanes);
        }
        if (train_.layout.has_cells) {
            cells_ = zeros<std::uint32_t>(4 * points);
            terms_ = zeros<std::uint16_t>(points);
            packed_cells_ = zeros<std::uint16_t>(4 * padded_cells * lanes);
            packed_terms_ = zeros<std::uint16_t>(padded_cells * lanes);
        }
        work_ = {gradients_.data(),    cells_.data(),        terms_.data(), planes_.data(),
                 packed_cells_.data(), packed_terms_.data(), least_.data(), squares_.data()};
    }

    /// Copies the query's descriptor into the form that kernels read.
    void set_query(const std::uint8_t* descriptor) {
        const DescriptorLayout& layout = train_.layout;
        if (layout.has_gradients) {
            const std::int64_t width = shape_.grid_cols + 2 * shape_.context;
            for (int row = 0; row < shape_.grid_rows; ++row)
                for (int col = 0; col < shape_.grid_cols; ++col)
                    gradients_[static_cast<std::size_t>((row + shape_.context) * width + col +
                                                        shape_.context)] =
                        twice(descriptor + 2 * (std::int64_t{row} * shape_.grid_cols + col));
        }
        if (!layout.has_cells) return;
        const std::uint8_t* cell = descriptor + layout.gradient_bytes();
        const std::size_t cells = static_cast<std::size_t>(layout.cell_bytes() / cell_bins);
        for (std::size_t i = 0; i < cells; ++i, cell += cell_bins) {
            std::uint32_t sum = 0;
            for (std::size_t bin = 0; bin < cell_bins; bin += 2) {
                const std::uint8_t doubled[] = {static_cast<std::uint8_t>(2 * cell[bin]),
                                                static_cast<std::uint8_t>(2 * cell[bin + 1])};
                cells_[4 * i + bin / 2] = twice(doubled);
                sum += static_cast<std::uint32_t>(cell[bin] * cell[bin] + cell[bin + 1] * cell[bin + 1]);
            }
            terms_[i] = static_cast<std::uint16_t>(sum);
        }
    }

    /// Of at most `lanes` candidates.
    void score(std::span<Neighbor> some) {
        const DescriptorLayout& layout = train_.layout;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            // Lanes without a candidate repeat the last one.
            const std::uint8_t* row = train_.row(some[std::min(i, some.size() - 1)].index);
            parts_[i] = {layout.has_gradients ? row : nullptr,
                         layout.has_cells ? row + layout.gradient_bytes() : nullptr};
        }
        kernel_.pack(shape_, parts_.data(), work_);
        std::fill(scores_.begin(), scores_.end(), 0);
        if (layout.has_gradients) kernel_.distortion(shape_, work_, scores_.data());
        if (layout.has_cells) kernel_.cells(shape_, work_, scores_.data());
        for (std::size_t i = 0; i < some.size(); ++i)
            some[i].distance =
                density_.empty() ? scores_[i] : scaled_by_density(scores_[i], density_[some[i].index]);
    }

    const Descriptors &queries_, &train_;
    std::span<const std::uint32_t> density_;
    const RerankKernel& kernel_;
    RerankShape shape_;
    Uninitialized<std::uint32_t> gradients_, cells_;
    Uninitialized<std::uint16_t> terms_, planes_, packed_cells_, packed_terms_, least_, squares_;
    RerankArrays work_;
    std::vector<DescriptorParts> parts_;
    std::vector<std::uint32_t> scores_;
};

}  // namespace

Descriptors describe(const RerankSpec& rerank, const Rows& images, ImageShape shape, int threads,
                     const std::atomic<bool>* stop) {
    Descriptors all{DescriptorLayout(shape, rerank), {}};
    if (images.count == 0) return all;
    const std::int64_t bytes = all.layout.bytes();
    try {
        all.bytes.resize(static_cast<std::size_t>(images.count * bytes));
    } catch (const std::bad_alloc&) {
        throw_out_of_memory("re-ranking of " + std::to_string(images.count) + " images");
    }
    const RerankKernel& kernel = chosen_lanes().rerank;
    if (all.layout.has_gradients)
        describe_part(all.layout, kernel.describe_gradients, gradients_slant_part, images, all.bytes.data(),
                      threads, stop);
    if (all.layout.has_cells)
        describe_part(all.layout, kernel.describe_cells, cells_slant_part, images,
                      all.bytes.data() + all.layout.gradient_bytes(), threads, stop);
    return all;
}

Neighbors rerank(const Neighbors& candidates, const Descriptors& queries, const Descriptors& train,
                 std::span<const std::uint32_t> density, int k, int threads, const ProgressToken& token) {
    std::vector<std::optional<Worker>> workers(static_cast<std::size_t>(threads_or_all(threads)));
    return ordered_again(candidates, k, threads, token,
                         [&](int thread, std::int64_t query, std::span<Neighbor> row) {
                             std::optional<Worker>& worker = workers[static_cast<std::size_t>(thread)];
                             if (!worker) worker.emplace(queries, train, density);
                             worker->run(query, row);
                         });
}

Neighbors scaled(const RerankSpec& rerank, const Neighbors& candidates, std::span<const std::int64_t> terms,
                 int k, int threads) {
    return ordered_again(candidates, k, threads, {}, [&](int, std::int64_t, std::span<Neighbor> row) {
        for (Neighbor& one : row)
            one.distance = scaled_by_spread(rerank.spread.by, one.distance, terms[one.index]);
    });
}

}  // namespace knn::cpu
