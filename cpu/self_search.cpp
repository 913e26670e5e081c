#include "cpu/self_search.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "cpu/host/host.h"
#include "data/core/clock.h"
#include "data/core/round_up.h"

namespace knn::cpu {

BlockPairs::BlockPairs(std::int64_t blocks)
    : blocks_(blocks),
      ended_(std::make_unique<std::atomic<std::int64_t>[]>(static_cast<std::size_t>(blocks))) {}

std::optional<BlockPair> BlockPairs::next() {
    const std::lock_guard lock(mutex_);
    if (next_.row == blocks_) return std::nullopt;
    const BlockPair pair = next_;
    if (++next_.column == blocks_) next_.column = ++next_.row;
    return pair;
}

bool BlockPairs::reached(std::int64_t row, std::int64_t column) const {
    return ended_[static_cast<std::size_t>(column)].load(std::memory_order_acquire) >= row;
}

void BlockPairs::end(BlockPair pair) {
    ended_[static_cast<std::size_t>(pair.column)].store(pair.row + 1, std::memory_order_release);
}

namespace {

/// The lists of all images may have this much memory, or as much as the images.
constexpr std::int64_t lists_bytes = std::int64_t{256} << 20;

/// A thread has at least this many rows of blocks, so that few wait at the end; but a block has some images.
constexpr std::int64_t rows_per_thread = 8, few_images = 64;

/// Whole panels and whole strips.
std::int64_t images_per_block(const Resident& resident) {
    const Kernel& kernel = resident.kernel;
    const std::int64_t whole = std::lcm(kernel.images, kernel.queries);
    const std::int64_t share = resident.train.count / (rows_per_thread * resident.plan.threads);
    return round_up(std::min(std::max(share, few_images), resident.max_block()), whole);
}

/// With p > 2 the search is as slow as its scores, which are bounded less well by limits of both sides.
bool gains(const Measure& measure) {
    return measure.metric != Metric::lp || measure.p <= 2;
}

}  // namespace

bool SelfSearch::suits(Resident& resident, const Queries& queries, int k) {
    const Rows& train = resident.train;
    if (!queries.is_training_set || !gains(resident.measure)) return false;
    const std::int64_t block = images_per_block(resident), blocks = divide_up(train.count, block);
    const std::int64_t lists = BestLists::bytes(blocks * block, k);
    if (lists > std::max(lists_bytes, train.count * train.dim)) return false;
    const std::int64_t thread =
        BestLists::bytes(block, k) + PanelScanner::bytes(resident.kernel, train.dim, block);
    const std::int64_t needed = lists + blocks * QueryBlock::bytes(resident.kernel, train.dim, block) +
                                thread * resident.plan.threads + resident.bytes_to_pack() +
                                train.count * k * std::int64_t{sizeof(Neighbor)};
    const std::int64_t available = available_bytes();
    return available < 0 || needed <= available;
}

SelfSearch::SelfSearch(Resident& resident, const Queries& queries, int k, std::span<Neighbor> found,
                       Timeline& timeline, const ProgressToken& token)
    : resident_(resident),
      k_(k),
      leaves_out_(queries.leaves_out()),
      found_(found),
      timeline_(timeline),
      block_(images_per_block(resident)),
      blocks_(divide_up(resident.train.count, block_)),
      team_(resident.plan.threads, token, resident.train.count,
            divide_up(resident.train.count, resident.kernel.images)),
      pairs_(blocks_),
      all_(blocks_ * block_, k_),
      limits_(static_cast<std::size_t>(resident.train.count)),
      begun_(static_cast<std::size_t>(blocks_)) {}

Rows SelfSearch::block(std::int64_t index) const {
    const std::int64_t first = index * block_;
    return resident_.train.slice(first, std::min(block_, resident_.train.count - first));
}

/// As panels, and as blocks of queries.
void SelfSearch::pack() {
    resident_.pack(team_, timeline_);
    const auto start = Clock::now();
    packed_.reserve(static_cast<std::size_t>(blocks_));
    for (std::int64_t i = 0; i < blocks_; ++i)
        packed_.emplace_back(resident_.kernel, resident_.train.dim, block(i).count);
    team_.run_pieces(blocks_, 1, [&](int, std::int64_t i, std::int64_t) {
        packed_[static_cast<std::size_t>(i)].fill(block(i));
    });
    timeline_.add({.name = "distance", .total_ms = ms_since(start)});
}

/// False if the work should end.
bool SelfSearch::wait_for(std::int64_t row, std::int64_t column) const {
    while (!pairs_.reached(row, column)) {
        if (team_.halted()) return false;
        std::this_thread::yield();
    }
    return true;
}

void SelfSearch::begin_row(std::int64_t row, PanelScanner& scanner, BestLists& rows) {
    const Rows queries = block(row);
    const std::int64_t first = row * block_;
    const auto limits =
        std::span(limits_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(queries.count));
    scanner.begin(queries, packed_[static_cast<std::size_t>(row)]);
    std::call_once(begun_[static_cast<std::size_t>(row)], [&] {
        const std::lock_guard lock(mutex_);
        for (std::int64_t q = 0; q < queries.count; ++q)
            all_.tighten(first + q);
        std::copy_n(all_.limits() + first, queries.count, limits.begin());
    });
    rows.clear(limits, scanner.n_lists());
    const std::shared_lock lock(mutex_);
    for (std::int64_t q = 0; q < queries.count; ++q) {
        rows.start(q, all_, first + q, first);
        if (leaves_out_) rows.exclude(q, first + q);
    }
}

void SelfSearch::end_row(std::int64_t row, const BestLists& rows) {
    const std::lock_guard lock(mutex_);
    for (std::int64_t q = 0; q < block(row).count; ++q)
        all_.add(row * block_ + q, rows, q, row * block_);
}

/// False if the work should end.
bool SelfSearch::compare(int thread, BlockPair pair, PanelScanner& scanner, BestLists& rows, Tally& tally) {
    const std::int64_t per_block = block_ / resident_.kernel.images, first = pair.column * per_block;
    const std::int64_t n_query = block(pair.row).count, n_image = block(pair.column).count;
    const bool diagonal = pair.row == pair.column;
    for (std::int64_t unit = first; unit < first + divide_up(n_image, resident_.kernel.images); ++unit) {
        if (team_.halted()) return false;
        if (diagonal)
            scanner.scan(unit, rows, tally);
        else
            scanner.scan_both(unit, rows, pair.row * block_, all_, tally);
        team_.advance(thread, n_query);
    }
    if (!diagonal) team_.advance(thread, n_image * per_block);
    ++tally.tasks;
    return true;
}

void SelfSearch::compare_pairs(int thread, Tally& tally) {
    PanelScanner scanner = resident_.scanner(block_);
    BestLists rows(block_, k_);
    std::int64_t row = -1;
    while (const auto pair = pairs_.next()) {
        if (!wait_for(pair->row, pair->row) || !wait_for(pair->row, pair->column)) return;
        if (pair->row != row) {
            if (row >= 0) end_row(row, rows);
            row = pair->row;
            begin_row(row, scanner, rows);
        }
        if (!compare(thread, *pair, scanner, rows, tally)) return;
        pairs_.end(*pair);
    }
    if (row >= 0) end_row(row, rows);
}

void SelfSearch::finish() {
    const auto start = Clock::now();
    const auto k = static_cast<std::size_t>(k_);
    team_.run_pieces(resident_.train.count, 64, [&](int, std::int64_t first, std::int64_t last) {
        for (std::int64_t q = first; q < last; ++q)
            all_.finish(q, found_.subspan(static_cast<std::size_t>(q) * k, k));
    });
    timeline_.add({.name = "select", .total_ms = ms_since(start)});
}

std::int64_t SelfSearch::run() {
    const std::int64_t n = resident_.train.count;
    all_.clear(n, blocks_ * block_);
    pack();
    double pairs = 0;
    for (std::int64_t i = 0; i < blocks_; ++i)
        pairs += static_cast<double>(block(i).count) * static_cast<double>(n - i * block_);
    run_tallied(team_, pairs, resident_.train.dim, timeline_,
                [&](int thread, Tally& tally) { compare_pairs(thread, tally); });
    finish();
    return block_;
}

}  // namespace knn::cpu
