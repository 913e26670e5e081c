#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

#include "data/core/errors.h"

namespace knn {

/// Progress and cancellation of a search.
struct ProgressToken {
    std::function<void(std::int64_t done, std::int64_t total)>
        progress;                             ///< may be empty; called from one thread
    const std::atomic<bool>* stop = nullptr;  ///< may be null

    /// For a part of the work that does not report: the same stop alone.
    ProgressToken quiet() const { return {.progress = nullptr, .stop = stop}; }
    /// For a part of the work: what it has done follows `before`, of `all`. This must outlive it.
    ProgressToken part(std::int64_t before, std::int64_t all) const {
        ProgressToken some = quiet();
        if (progress)
            some.progress = [this, before, all](std::int64_t done, std::int64_t) {
                progress(before + done, all);
            };
        return some;
    }

    /// For a part of the work that does not report: progress is asked with these numbers. This must outlive it.
    ProgressToken waiting(std::int64_t done, std::int64_t total) const {
        ProgressToken same = quiet();
        if (progress)
            same.progress = [this, done, total](std::int64_t, std::int64_t) { progress(done, total); };
        return same;
    }
    /// For parts of the work of which some begin again: never reports less than before. Not copied; this must outlive it.
    ProgressToken rising() const {
        ProgressToken same = quiet();
        if (progress)
            same.progress = [this, most = std::int64_t{0}](std::int64_t done, std::int64_t total) mutable {
                progress(most = std::max(most, done), total);
            };
        return same;
    }

    bool stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
    void throw_if_stopped() const {
        if (stopped()) throw Interrupted();
    }
    /// Called between batches: reports progress, and throws Interrupted if a stop was requested.
    void step(std::int64_t done, std::int64_t total) const {
        throw_if_stopped();
        if (progress) progress(done, total);
    }
};

}  // namespace knn
