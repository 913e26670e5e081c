/// The ranks of an MPI job: join_ranks() and mpi_version() of ranks.h.

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "classifier/mpi/module.h"
#include "classifier/ranks.h"
#include "data/core/errors.h"
#include "data/file/module.h"

namespace knn {

namespace {

/// MPI counts bytes in an int.
constexpr std::size_t max_message_bytes = std::size_t{1} << 30;

#ifdef MNIST_KNN_HAS_MPI
const MpiModule& mpi_module() {
    static const auto& module = *static_cast<const MpiModule*>(load_module(
        {.file = "mnist-knn-mpi", .table = "mnist_knn_mpi", .purpose = "MPI", .libraries = "MPI's library"}));
    return module;
}
#else
const MpiModule& mpi_module() {
    throw DataError("this build has no MPI; expected a build where CMake finds it (Debian: libopenmpi-dev)");
}
#endif

class MpiRanks final : public Ranks {
  public:
    explicit MpiRanks(const MpiModule& mpi) : mpi_(mpi) { mpi.start(rank_, size_, local_rank_, local_size_); }
    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int local_rank() const override { return local_rank_; }
    int local_size() const override { return local_size_; }

    void exchange(const Outgoing& send, const Incoming& receive, const std::atomic<bool>* stop) override {
        for (int r = 0; r < size_; ++r) {
            const auto& from = send[static_cast<std::size_t>(r)];
            const auto& to = receive[static_cast<std::size_t>(r)];
            if (r == rank_) {
                std::copy(from.begin(), from.end(), to.begin());
                continue;
            }
            for (std::size_t at = 0; at < to.size(); at += max_message_bytes)
                mpi_.receive(to.data() + at, std::min(max_message_bytes, to.size() - at), r);
            for (std::size_t at = 0; at < from.size(); at += max_message_bytes)
                mpi_.send(from.data() + at, std::min(max_message_bytes, from.size() - at), r);
        }
        wait(stop);
    }

    void finish() override {
        gather_all(*this, {}, nullptr);  // MPI_Finalize takes a whole processor while it waits
        mpi_.finish();
    }

    [[noreturn]] void abort(int exit_code) override {
        mpi_.abort(exit_code);
        std::_Exit(exit_code);
    }

  private:
    /// Sleeps between looks, unlike MPI_Waitall: another rank may compute on this processor.
    void wait(const std::atomic<bool>* stop) const {
        constexpr int short_wait = 1000;  // looks without sleep, about 1 ms
        for (int looks = 0; !mpi_.done(); ++looks) {
            if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw Interrupted();
            if (looks < short_wait)
                ::sched_yield();
            else
                ::usleep(100);
        }
    }

    const MpiModule& mpi_;
    int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
};

}  // namespace

std::unique_ptr<Ranks> join_ranks() {
    return std::make_unique<MpiRanks>(mpi_module());
}

std::string mpi_version() {
    return mpi_module().version();
}

}  // namespace knn
