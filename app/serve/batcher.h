#pragma once
/// Searches for the digits of requests that wait together.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/serve/http.h"
#include "classifier/picture_answers.h"

namespace knn::web {

/// The answer to one image of a `predict` request.
struct Predicted {
    int digit = 0;  ///< also of one that was rejected
    double confidence = 0;
    bool rejected = false;
};

/// One thread that searches for what waits: while one batch is searched, the next one gathers. A batch takes at most
/// `share` images of each request, so that a large one does not hold up the small ones.
class Batcher {
  public:
    using Search = std::function<void(std::span<Answer* const>)>;
    /// What becomes of a request: its answers in order, or an exception. Called by the batcher's thread.
    using Done = std::function<void(std::vector<Predicted>, std::exception_ptr)>;

    static constexpr std::size_t share = 256, max_batch = 1024;
    static constexpr std::size_t max_waiting = 60'000;  ///< images

    /// Answers all that waits.
    ~Batcher();

    /// Before the first `add`.
    void start(Search search);
    /// `pixels`: n × 784 bytes, n at least 1. False if too many wait already. What is abandoned is not searched any more.
    bool add(std::string pixels, Abandoned abandoned, Done done);
    /// Since the start.
    std::int64_t batches() const;

  private:
    struct Job {
        std::string pixels;
        Abandoned abandoned;
        Done done;
        std::size_t begun = 0;  ///< images in batches so far
        std::vector<Predicted> answers;

        std::size_t size() const;
    };
    struct Piece {
        Job* job;
        std::size_t first, count;
    };

    void run();
    std::vector<Piece> gather();
    void answer(const std::vector<Piece>& pieces);

    mutable std::mutex mutex_;  ///< of all below but `search_`; not of what is in the jobs
    std::condition_variable changed_;
    std::deque<std::unique_ptr<Job>> jobs_;
    std::size_t waiting_ = 0;  ///< images
    std::int64_t batches_ = 0;
    std::size_t last_requests_ = 0;  ///< in the last batch
    bool closed_ = false;
    Search search_;
    std::thread thread_;
};

}  // namespace knn::web
