#pragma once
/// Ranks as threads of one process: what mpirun does, without MPI.

#include <barrier>
#include <exception>

#include "classifier/ranks.h"
#include "data/core/errors.h"
#include "tests/support/test.h"

namespace knn::test {

/// What all ranks see.
struct Board {
    explicit Board(int ranks) : size(ranks), barrier(ranks), sent(static_cast<std::size_t>(ranks)) {}

    int size;
    std::barrier<> barrier;
    std::vector<const Outgoing*> sent;  ///< by rank
};

class ThreadRanks final : public Ranks {
  public:
    ThreadRanks(Board& board, int rank) : Ranks({rank, board.size, rank, board.size}), board_(board) {}

    void exchange(const Outgoing& send, const Incoming& receive, const std::atomic<bool>*) override {
        board_.sent[static_cast<std::size_t>(rank())] = &send;
        board_.barrier.arrive_and_wait();
        bool fits = true;
        for (std::size_t from = 0; from < receive.size(); ++from) {
            const auto& bytes = (*board_.sent[from])[static_cast<std::size_t>(rank())];
            fits = fits && bytes.size() == receive[from].size();
            if (fits && !bytes.empty()) std::memcpy(receive[from].data(), bytes.data(), bytes.size());
        }
        board_.barrier.arrive_and_wait();
        if (!fits) throw std::logic_error("a rank sent another size than expected");
    }
    void finish() override {}
    [[noreturn]] void abort(int) override { std::abort(); }

  private:
    Board& board_;
};

/// Runs work(ranks) on `size` threads, each with a rank of its own, and waits for all. Rethrows the first exception.
inline void run_ranks(int size, const std::function<void(Ranks&)>& work) {
    Board board(size);
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < size; ++rank)
            threads.emplace_back([&, rank] {
                ThreadRanks ranks(board, rank);
                try {
                    work(ranks);
                } catch (...) {
                    errors[static_cast<std::size_t>(rank)] = std::current_exception();
                }
                board.barrier.arrive_and_drop();
            });
    }
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

}  // namespace knn::test
