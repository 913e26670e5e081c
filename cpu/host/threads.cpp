#include "cpu/host/threads.h"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <thread>
#include <vector>

#include "cpu/host/host.h"
#include "data/core/plan.h"
#include "data/core/round_up.h"
#include "data/file/transfer.h"

namespace knn::cpu {

namespace {
constexpr std::chrono::milliseconds report_every{50};
}

Team::Team(int threads, const ProgressToken& token, std::int64_t queries, std::int64_t units)
    : threads_(threads),
      token_(token),
      queries_(queries),
      units_(units),
      reported_(std::chrono::steady_clock::now()) {}

void Team::guarded(const std::function<void(int)>& work, int thread) {
    try {
        work(thread);
    } catch (...) {
        const std::lock_guard lock(failure_mutex_);
        if (!failure_) failure_ = std::current_exception();
        failed_ = true;
    }
}

void Team::run(const std::function<void(int)>& work) {
    {
        std::vector<std::jthread> others;
        others.reserve(static_cast<std::size_t>(threads_ - 1));
        try {
            for (int thread = 1; thread < threads_; ++thread)
                others.emplace_back([this, &work, thread] { guarded(work, thread); });
        } catch (const std::system_error&) {
            // The system refused another thread: those that run share the work.
        }
        guarded(work, 0);
    }
    if (failure_) std::rethrow_exception(failure_);
    token_.throw_if_stopped();
}

void Team::run_pieces(std::int64_t count, std::int64_t piece,
                      const std::function<void(int, std::int64_t, std::int64_t)>& work) {
    std::atomic<std::int64_t> next{0};
    run([&](int thread) {
        while (!halted()) {
            const std::int64_t first = next.fetch_add(piece);
            if (first >= count) return;
            work(thread, first, std::min(count, first + piece));
            advance(thread, 0);
        }
    });
}

void Team::advance(int thread, std::int64_t units) {
    const std::int64_t done = done_.fetch_add(units, std::memory_order_relaxed) + units;
    if (thread != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - reported_ < report_every) return;
    reported_ = now;
    if (token_.progress)
        token_.progress(done / units_, queries_);
    else
        throw_if_stopped();
}

int team_size(int wanted, std::int64_t count, std::int64_t piece) {
    return static_cast<int>(std::clamp<std::int64_t>(divide_up(count, piece), 1, threads_or_all(wanted)));
}

std::int64_t piece_for_all(std::int64_t count, int threads, std::int64_t most) {
    constexpr std::int64_t least = 8;
    return std::min(std::max(divide_up(count, threads_or_all(threads)), least), most);
}

std::int64_t lists_per_piece(int k) {
    constexpr std::int64_t neighbors = 32'768, most = 1024;
    return std::clamp<std::int64_t>(neighbors / std::max(k, 1), 1, most);
}

int paying_threads(double work_ns) {
    constexpr double start_ns = 20'000;
    return static_cast<int>(std::clamp(std::lround(std::sqrt(work_ns / start_ns)), 1L, 4096L));
}

int threads_for(const Plan& plan, double work_ns) {
    return plan.spares_threads ? std::min(plan.threads, paying_threads(work_ns)) : plan.threads;
}

void for_lists(std::int64_t count, int k, int threads,
               const std::function<void(std::int64_t, std::int64_t)>& work) {
    constexpr double list_ns = 20, neighbor_ns = 9;
    const double work_ns = static_cast<double>(count) * (list_ns + k * neighbor_ns);
    for_rows(count, lists_per_piece(k), std::min(threads_or_all(threads), paying_threads(work_ns)), nullptr,
             work);
}

void for_rows(std::int64_t count, std::int64_t piece, int threads, const ProgressToken& token,
              const std::function<void(std::int64_t, std::int64_t)>& work) {
    Team team(team_size(threads, count, piece), token, count, 1);
    team.run_pieces(count, piece, [&](int thread, std::int64_t first, std::int64_t last) {
        work(first, last);
        team.advance(thread, last - first);
    });
}

}  // namespace knn::cpu
