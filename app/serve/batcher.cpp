#include "app/serve/batcher.h"

#include <algorithm>
#include <chrono>

namespace knn::web {

namespace {

constexpr std::size_t image_bytes = DigitImage::Pixels{}.size();

/// How long a batch waits to have as many requests as the one before.
constexpr std::chrono::milliseconds patience{2};

}  // namespace

std::size_t Batcher::Job::size() const {
    return pixels.size() / image_bytes;
}

Batcher::~Batcher() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void Batcher::start(Search search) {
    search_ = std::move(search);
    thread_ = std::thread([this] { run(); });
}

bool Batcher::add(std::string pixels, Abandoned abandoned, Done done) {
    auto job = std::make_unique<Job>();
    job->pixels = std::move(pixels);
    job->abandoned = std::move(abandoned);
    job->done = std::move(done);
    job->answers.resize(job->size());
    {
        const std::lock_guard lock(mutex_);
        if (waiting_ > 0 && waiting_ + job->size() > max_waiting) return false;
        waiting_ += job->size();
        jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
    return true;
}

std::int64_t Batcher::batches() const {
    const std::lock_guard lock(mutex_);
    return batches_;
}

void Batcher::run() {
    for (;;) {
        const std::vector<Piece> pieces = gather();
        if (pieces.empty()) return;
        std::exception_ptr failure;
        try {
            answer(pieces);
        } catch (...) {
            failure = std::current_exception();
        }
        std::vector<std::unique_ptr<Job>> finished;
        {
            const std::lock_guard lock(mutex_);
            ++batches_;
            // The next batch begins with those that this one had no room for.
            std::rotate(jobs_.begin(), jobs_.begin() + std::ssize(pieces), jobs_.end());
            for (const Piece& piece : pieces) {
                waiting_ -= piece.count;
                const bool is_done = piece.job->begun == piece.job->size();
                if (!failure && !is_done && !is_set(piece.job->abandoned)) continue;
                waiting_ -= piece.job->size() - piece.job->begun;
                const auto at = std::ranges::find(jobs_, piece.job, &std::unique_ptr<Job>::get);
                finished.push_back(std::move(*at));
                jobs_.erase(at);
            }
        }
        for (const std::unique_ptr<Job>& job : finished) {
            const bool is_abandoned = !failure && job->begun < job->size();
            job->done(std::move(job->answers),
                      is_abandoned ? std::make_exception_ptr(nobody_waits()) : failure);
        }
    }
}

std::vector<Batcher::Piece> Batcher::gather() {
    std::vector<Piece> pieces;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !jobs_.empty(); });
    // Clients that have just got their answers are about to send the next requests: small batches cost almost as much as large ones.
    changed_.wait_for(lock, patience, [&] { return closed_ || jobs_.size() >= last_requests_; });
    std::size_t total = 0;
    for (const std::unique_ptr<Job>& job : jobs_) {
        if (total == max_batch) break;
        const std::size_t count = std::min({share, max_batch - total, job->size() - job->begun});
        pieces.push_back({job.get(), job->begun, count});
        job->begun += count;
        total += count;
    }
    last_requests_ = pieces.size();
    return pieces;
}

void Batcher::answer(const std::vector<Piece>& pieces) {
    std::vector<Answer> answers;
    for (const auto& [job, first, count] : pieces)
        for (std::size_t i = first; i < first + count; ++i) {
            DigitImage& image = answers.emplace_back().image;
            std::copy_n(reinterpret_cast<const std::uint8_t*>(job->pixels.data()) + i * image_bytes,
                        image_bytes, image.pixels.begin());
            if (std::ranges::count(image.pixels, image.pixels[0]) == std::ssize(image.pixels))
                image.refused = no_ink;
        }
    std::vector<Answer*> digits;
    for (Answer& answer : answers)
        digits.push_back(&answer);
    search_(digits);
    auto answer = answers.begin();
    for (const auto& [job, first, count] : pieces)
        for (std::size_t i = first; i < first + count; ++i, ++answer)
            job->answers[i] = {answer->label ? *answer->label : answer->guess.value_or(0), answer->confidence,
                               !answer->label};
}

}  // namespace knn::web
