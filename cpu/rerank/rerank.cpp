#include "cpu/rerank/rerank.h"

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpu/host/host.h"
#include "cpu/host/threads.h"
#include "cpu/kernels/kernels.h"
#include "cpu/rerank/kernel.h"
#include "cpu/rerank/memory.h"
#include "cpu/transform/transform.h"
#include "data/core/errors.h"
#include "data/rerank/density.h"

namespace knn::cpu {

namespace {

constexpr std::int64_t images_at_once = 64, queries_at_once = 8;  // by one thread

[[noreturn]] void throw_out_of_memory(std::int64_t images) {
    throw DataError("memory: re-ranking of " + std::to_string(images) +
                    " images ran out of it; expected more, or fewer images");
}

/// The k nearest by new distances: rescore(thread, query, row) replaces those of one query's candidates.
template <class Rescore>
Neighbors ordered_again(const Neighbors& candidates, int k, int threads, const Watch& watch,
                        const Rescore& rescore) {
    if (k < 1 || k > candidates.k)
        throw std::invalid_argument("k = " + std::to_string(k) + " of " + std::to_string(candidates.k) +
                                    " candidates");
    const std::int64_t n = candidates.n_query;
    try {
        Neighbors nearest(n, k);
        Team team(team_size(threads, n, queries_at_once), watch, n, 1);
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
        throw_out_of_memory(n);
    }
}

/// One part of each descriptor; `to`: of the first image.
void describe_part(const DescriptorLayout& layout, decltype(RerankKernel::describe_cells) part, double slant,
                   const Rows& images, std::uint8_t* to, int threads, const std::atomic<bool>* stop) {
    FittedTransform deskew{.spec = {}, .image = layout.image, .steps = {}};
    append_step(deskew, {TransformKind::deskew, slant});
    const std::vector<std::uint8_t> straight = features(deskew, images, threads, stop);
    const RerankShape shape = rerank_shape(layout.image);
    const Watch watch{.progress = nullptr, .stop = stop};
    Team team(team_size(threads, images.count, images_at_once), watch, images.count, 1);
    std::vector<std::optional<DescribeMemory>> memories(static_cast<std::size_t>(team.threads()));
    team.run_pieces(images.count, images_at_once, [&](int thread, std::int64_t first, std::int64_t last) {
        std::optional<DescribeMemory>& memory = memories[static_cast<std::size_t>(thread)];
        if (!memory) memory.emplace(shape);
        for (std::int64_t i = first; i < last; ++i)
            part(shape, straight.data() + i * images.dim, memory->work(), to + i * layout.bytes());
    });
}

/// One query after another, on one thread.
class Worker {
  public:
    Worker(const Descriptors& queries, const Descriptors& train, std::span<const std::uint32_t> density)
        : queries_(queries),
          train_(train),
          density_(density),
          kernel_(chosen_rerank_kernel()),
          shape_(rerank_shape(train.layout.image)),
          memory_(shape_, train.layout, kernel_.lanes),
          parts_(static_cast<std::size_t>(kernel_.lanes)),
          scores_(static_cast<std::size_t>(kernel_.lanes)) {}

    /// Replaces the distances of the query's candidates.
    void run(std::int64_t query, std::span<Neighbor> candidates) {
        memory_.set_query(shape_, queries_.layout, queries_.row(query));
        const auto lanes = static_cast<std::size_t>(kernel_.lanes);
        for (std::size_t first = 0; first < candidates.size(); first += lanes)
            score(candidates.subspan(first, std::min(lanes, candidates.size() - first)));
    }

  private:
    /// Of at most `lanes` candidates.
    void score(std::span<Neighbor> some) {
        const DescriptorLayout& layout = train_.layout;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            // Lanes without a candidate repeat the last one.
            const std::uint8_t* row = train_.row(some[std::min(i, some.size() - 1)].index);
            parts_[i] = {layout.has_gradients ? row : nullptr,
                         layout.has_cells ? row + layout.gradient_bytes() : nullptr};
        }
        kernel_.pack(shape_, parts_.data(), memory_.lanes());
        std::fill(scores_.begin(), scores_.end(), 0);
        if (layout.has_gradients)
            kernel_.distortion(shape_, memory_.query(), memory_.lanes(), scores_.data());
        if (layout.has_cells) kernel_.cells(shape_, memory_.query(), memory_.lanes(), scores_.data());
        for (std::size_t i = 0; i < some.size(); ++i)
            some[i].distance =
                density_.empty() ? scores_[i] : scaled_by_density(scores_[i], density_[some[i].index]);
    }

    const Descriptors &queries_, &train_;
    std::span<const std::uint32_t> density_;
    const RerankKernel& kernel_;
    RerankShape shape_;
    RerankMemory memory_;
    std::vector<DescriptorParts> parts_;
    std::vector<std::uint32_t> scores_;
};

}  // namespace

const RerankKernel& chosen_rerank_kernel() {
#if defined(__x86_64__)
    const std::string name = instruction_set();
    if (name == "amx" || name == "avx512vnni") return rerank_avx512;
    if (name == "avxvnni" || name == "avx2") return rerank_avx2;
#endif
    return rerank_plain;
}

Descriptors describe(const Rerank& rerank, const Rows& images, ImageShape shape, int threads,
                     const std::atomic<bool>* stop) {
    Descriptors all{DescriptorLayout(shape, rerank), {}};
    if (images.count == 0) return all;
    const std::int64_t bytes = all.layout.bytes();
    try {
        all.bytes.resize(static_cast<std::size_t>(images.count * bytes));
    } catch (const std::bad_alloc&) {
        throw_out_of_memory(images.count);
    }
    const RerankKernel& kernel = chosen_rerank_kernel();
    if (all.layout.has_gradients)
        describe_part(all.layout, kernel.describe_gradients, gradients_slant_part, images, all.bytes.data(),
                      threads, stop);
    if (all.layout.has_cells)
        describe_part(all.layout, kernel.describe_cells, cells_slant_part, images,
                      all.bytes.data() + all.layout.gradient_bytes(), threads, stop);
    return all;
}

Neighbors rerank(const Neighbors& candidates, const Descriptors& queries, const Descriptors& train,
                 std::span<const std::uint32_t> density, int k, int threads, const Watch& watch) {
    std::vector<std::optional<Worker>> workers(static_cast<std::size_t>(threads_or_all(threads)));
    return ordered_again(candidates, k, threads, watch,
                         [&](int thread, std::int64_t query, std::span<Neighbor> row) {
                             std::optional<Worker>& worker = workers[static_cast<std::size_t>(thread)];
                             if (!worker) worker.emplace(queries, train, density);
                             worker->run(query, row);
                         });
}

Neighbors scaled(const Rerank& rerank, const Neighbors& candidates, std::span<const std::int64_t> terms,
                 int k, int threads) {
    return ordered_again(candidates, k, threads, {}, [&](int, std::int64_t, std::span<Neighbor> row) {
        for (Neighbor& one : row)
            one.distance = scaled_by_spread(rerank.spread.by, one.distance, terms[one.index]);
    });
}

}  // namespace knn::cpu
