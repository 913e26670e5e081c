#include "classifier/ranks.h"

#include <cstdlib>
#include <limits>
#include <sstream>

#include "data/core/errors.h"
#include "data/file/module.h"

namespace knn {

namespace {

/// The number in the first of these environment variables that is there.
int number_in(std::initializer_list<const char*> names, int otherwise) {
    for (const char* name : names)
        if (const char* text = std::getenv(name)) return std::atoi(text);
    return otherwise;
}

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
    explicit MpiRanks(const MpiModule& mpi) : Ranks(mpi.start()), mpi_(mpi) {}

    void exchange(const Outgoing& send, const Incoming& receive, const std::atomic<bool>* stop) override {
        if (!mpi_.exchange(send, receive, stop)) throw Interrupted();
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
    const MpiModule& mpi_;
};

}  // namespace

Job started_job() {
    // Of Open MPI; of MPICH, Intel MPI and others.
    return {.rank = number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0),
            .size = number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1)};
}

std::vector<std::vector<std::uint8_t>> gather_all(Ranks& ranks, std::span<const std::uint8_t> mine,
                                                  const std::atomic<bool>* stop) {
    const auto size = static_cast<std::size_t>(ranks.size());
    const std::uint64_t own = mine.size();
    std::vector<std::uint64_t> sizes(size);
    std::vector<std::vector<std::uint8_t>> all(size);
    Incoming receive;
    for (std::uint64_t& one : sizes)
        receive.push_back(std::as_writable_bytes(std::span(&one, 1)));
    ranks.exchange(Outgoing(size, std::as_bytes(std::span(&own, 1))), receive, stop);
    for (std::size_t r = 0; r < size; ++r) {
        all[r].resize(sizes[r]);
        receive[r] = std::as_writable_bytes(std::span(all[r]));
    }
    ranks.exchange(Outgoing(size, std::as_bytes(mine)), receive, stop);
    return all;
}

Timeline gather_timeline(Ranks& ranks, const Timeline& mine, double ms, const std::atomic<bool>* stop) {
    std::ostringstream own;  // names of stages are single words
    own.precision(std::numeric_limits<double>::max_digits10);
    own << ms;
    for (const Stage& stage : mine.stages())
        own << ' ' << stage.name << ' ' << stage.launches << ' ' << stage.total_ms << ' ' << stage.bytes
            << ' ' << stage.operations << ' ' << static_cast<int>(stage.kind);
    const std::string words = own.str();
    std::vector<Timeline> timelines;
    std::vector<double> rank_ms;
    for (const auto& bytes : gather_all(ranks, std::vector<std::uint8_t>(words.begin(), words.end()), stop)) {
        std::istringstream text(std::string(bytes.begin(), bytes.end()));
        text >> rank_ms.emplace_back();
        Timeline& timeline = timelines.emplace_back();
        Stage stage;
        for (int kind = 0; text >> stage.name >> stage.launches >> stage.total_ms >> stage.bytes >>
                           stage.operations >> kind;) {
            stage.kind = static_cast<StageKind>(kind);
            timeline.add(stage);
        }
    }
    Timeline all = slowest(timelines);
    all.add_device_ms(rank_ms);
    return all;
}

std::unique_ptr<Ranks> join_ranks() {
    return std::make_unique<MpiRanks>(mpi_module());
}

std::string mpi_version() {
    return mpi_module().version();
}

}  // namespace knn
