#include "classifier/ranks.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace knn {

namespace {

Job job;

const char* version() {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    text[std::strcspn(text, ",\n")] = '\0';  // "Open MPI v4.1.4, package: ..."
    return text;
}

Job start() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, job.rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &job.local_rank);
    MPI_Comm_size(host, &job.local_size);
    MPI_Comm_free(&host);
    return job;
}

bool exchange(const Outgoing& send, const Incoming& receive, const std::atomic<bool>* stop) {
    constexpr std::size_t max_bytes = std::size_t{1} << 30;  // MPI counts bytes in an int
    std::vector<MPI_Request> requests;
    // Messages between two ranks keep their order.
    const auto in_messages = [&](auto bytes, auto begin, int other) {
        for (std::size_t at = 0; at < bytes.size(); at += max_bytes)
            begin(bytes.data() + at, static_cast<int>(std::min(max_bytes, bytes.size() - at)), MPI_BYTE,
                  other, 0, MPI_COMM_WORLD, &requests.emplace_back(MPI_REQUEST_NULL));
    };
    for (int r = 0; r < job.size; ++r) {
        const auto& from = send[static_cast<std::size_t>(r)];
        const auto& to = receive[static_cast<std::size_t>(r)];
        if (r == job.rank) {
            std::copy(from.begin(), from.end(), to.begin());
            continue;
        }
        in_messages(to, MPI_Irecv, r);
        in_messages(from, MPI_Isend, r);
    }
    // Sleeps between looks, unlike MPI_Waitall: another rank may compute on this processor.
    constexpr int short_wait = 1000;  // looks without sleep, about 1 ms
    int done = 0;
    for (int looks = 0;; ++looks) {
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
        if (done != 0) return true;
        if (stop != nullptr && stop->load(std::memory_order_relaxed)) return false;
        if (looks < short_wait)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

}  // namespace

}  // namespace knn

extern "C" {
__attribute__((visibility("default"))) extern const knn::MpiModule mnist_knn_mpi;
const knn::MpiModule mnist_knn_mpi = {knn::version, knn::start, knn::exchange, [] { MPI_Finalize(); },
                                      [](int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }};
}
