#pragma once
/// Streams, events, and the timing of stages between events.

#include <deque>
#include <utility>
#include <vector>

#include "data/core/timeline.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

/// A CUDA stream that does not wait for the legacy default stream. Owns it; not copied, not moved.
class Stream {
  public:
    Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"); }
    ~Stream() { cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    operator cudaStream_t() const { return stream_; }
    void wait_for(cudaEvent_t event) const { check(cudaStreamWaitEvent(stream_, event), "ordering streams"); }
    void synchronize() const { check(cudaStreamSynchronize(stream_), "waiting for the GPU"); }

  private:
    cudaStream_t stream_ = nullptr;
};

/// A CUDA event with a time stamp. Owns it; not copied, not moved.
class Event {
  public:
    Event() { check(cudaEventCreate(&event_), "creating an event"); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    operator cudaEvent_t() const { return event_; }
    void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "recording an event"); }
    void synchronize() const { check(cudaEventSynchronize(event_), "waiting for the GPU"); }

  private:
    cudaEvent_t event_ = nullptr;
};

/// The time between two events that have both passed.
inline double elapsed_ms(const Event& begin, const Event& end) {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "reading the GPU's clock");
    return ms;
}

/// The stages of one batch: an event before and after each, and its bytes and operations. Consecutive stages on
/// the same stream share the event between them.
class StageTimer {
  public:
    /// Queues `work`.
    template <class Work>
    void time(cudaStream_t stream, Stage what, Work&& work) {
        if (!is_on_) return work();
        if (stages_.empty() || stages_.back().stream != stream) record(stream);
        const std::size_t begin = used_ - 1;
        work();
        record(stream);
        stages_.push_back({std::move(what), stream, begin});
    }
    /// The event after the last stage.
    cudaEvent_t last() const { return events_[used_ - 1]; }
    /// Waits for the last stage.
    void synchronize() const { events_[used_ - 1].synchronize(); }
    /// Call when all stages have finished; empties the timer.
    void add_to(Timeline& timeline) {
        for (Timed& timed : stages_) {
            timed.stage.launches = 1;
            timed.stage.total_ms = elapsed_ms(events_[timed.begin], events_[timed.begin + 1]);
            timeline.add(timed.stage);
        }
        clear();
    }
    void clear() {
        stages_.clear();
        used_ = 0;
    }
    /// From now on `time` only queues the work: events cost some microseconds.
    void turn_off() { is_on_ = false; }

  private:
    struct Timed {
        Stage stage;
        cudaStream_t stream;
        std::size_t begin;  // of its events; the next one ends it
    };
    void record(cudaStream_t stream) {
        if (used_ == events_.size()) events_.emplace_back();
        events_[used_++].record(stream);
    }

    std::deque<Event> events_;
    std::size_t used_ = 0;
    std::vector<Timed> stages_;
    bool is_on_ = true;
};

}  // namespace knn::gpu
