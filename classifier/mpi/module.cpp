#include "classifier/ranks.h"

#include <mpi.h>

#include <cstring>
#include <vector>

namespace knn {

namespace {

std::vector<MPI_Request> requests;

const char* version() {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    text[std::strcspn(text, ",\n")] = '\0';  // "Open MPI v4.1.4, package: ..."
    return text;
}

Job start() {
    Job job;
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

void send(const void* bytes, std::size_t size, int to) {
    MPI_Isend(bytes, static_cast<int>(size), MPI_BYTE, to, 0, MPI_COMM_WORLD,
              &requests.emplace_back(MPI_REQUEST_NULL));
}

void receive(void* bytes, std::size_t size, int from) {
    MPI_Irecv(bytes, static_cast<int>(size), MPI_BYTE, from, 0, MPI_COMM_WORLD,
              &requests.emplace_back(MPI_REQUEST_NULL));
}

bool done() {
    int all = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
    if (all != 0) requests.clear();
    return all != 0;
}

}  // namespace

}  // namespace knn

extern "C" {
__attribute__((visibility("default"))) extern const knn::MpiModule mnist_knn_mpi;
const knn::MpiModule mnist_knn_mpi = {knn::version,
                                      knn::start,
                                      knn::send,
                                      knn::receive,
                                      knn::done,
                                      [] { MPI_Finalize(); },
                                      [](int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }};
}
