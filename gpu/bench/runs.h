#pragma once
/// Runs something repeatedly and times it with events.
///
/// Before each run with a cold cache, memory of twice the size of the L2 cache is filled: that evicts the data of the
/// previous run from the cache, and gives the host time to queue all launches of the run, so that its speed does not
/// affect the time of short kernels.

#include <algorithm>
#include <vector>

#include "data/core/bench.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/stream.h"

namespace knn::gpu {

enum class Cache { cold, warm };

/// n × k neighbors that a finished kernel has written.
inline Neighbors downloaded(const DeviceBuffer<Neighbor>& from, std::int64_t n, int k) {
    Neighbors found(n, k);
    check(cudaMemcpy(found.rows.data(), from.d_data(), found.rows.size() * sizeof(Neighbor),
                     cudaMemcpyDeviceToHost),
          "downloading neighbors");
    return found;
}

/// Host memory: page-locked, or ordinary. Ones.
template <class T>
class HostArray {
  public:
    HostArray(std::size_t size, bool pinned) : ordinary_(pinned ? 0 : size), pinned_(pinned ? size : 0) {
        std::fill_n(data(), size, T{1});  // every page is there
    }
    T* data() { return pinned_.size() > 0 ? pinned_.data() : ordinary_.data(); }

  private:
    std::vector<T> ordinary_;
    PinnedBuffer<T> pinned_;
};

class Runs {
  public:
    /// On the current device. The token must outlive this.
    explicit Runs(const ProgressToken& token, Cache cache = Cache::cold) : token_(token) {
        if (cache == Cache::cold)
            flush_.reserve(2 * static_cast<std::size_t>(device_attribute(cudaDevAttrL2CacheSize)));
    }

    /// What is timed is queued on this stream.
    const Stream& stream() const { return stream_; }

    /// A trial of `work(n)` on as many of `max_n` queries as there is time for.
    template <class Work>
    Trial timed(std::int64_t max_n, TrialOptions options, Work&& work) {
        options.first = 16;
        const auto run = [&](std::int64_t n) { return once([&] { work(n); }); };
        run(std::min(max_n, options.first));  // loads the code
        return timed_trial(options, max_n, run);
    }

    /// Runs for a trial of n queries, after one to warm up.
    template <class Work>
    Trial repeated(std::int64_t n, TrialOptions options, Work&& work) {
        options.all_queries = true;
        return timed_trial(options, n, [&](std::int64_t) { return once(work); });
    }

  private:
    template <class Work>
    double once(Work&& work) {
        token_.throw_if_stopped();
        if (flush_.size() > 0)
            check(cudaMemsetAsync(flush_.d_data(), 0, flush_.size(), stream_), "emptying the cache");
        begin_.record(stream_);
        work();
        end_.record(stream_);
        end_.synchronize();
        return elapsed_ms(begin_, end_);
    }

    const ProgressToken& token_;
    DeviceBuffer<char> flush_;
    Event begin_, end_;
    Stream stream_;  // destroyed first
};

}  // namespace knn::gpu
