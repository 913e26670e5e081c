#pragma once
/// What the module mnist-knn-mpi exports, as `extern "C" const MpiModule mnist_knn_mpi`. The program loads it only where
/// mpirun started it: the MPI library takes time to load, and the same program runs where there is none.

#include <cstddef>

#include "classifier/ranks.h"

namespace knn {

/// Errors of MPI itself end the job, as MPI does by default.
struct MpiModule {
    const char* (*version)();  ///< one line
    Job (*start)();
    /// Begin to send or receive at most 2^31 - 1 bytes; messages between two ranks keep their order.
    void (*send)(const void* bytes, std::size_t size, int to);
    void (*receive)(void* bytes, std::size_t size, int from);
    /// Whether all that was begun is done.
    bool (*done)();
    void (*finish)();
    void (*abort)(int exit_code);
};

}  // namespace knn
