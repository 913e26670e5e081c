#pragma once
/// The data of `info`: the program, the machine and the data set that would be used.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "classifier/engines.h"
#include "data/set/locate.h"

namespace knn {

struct Inventory {
    std::vector<Device> gpus;
    std::string why_no_gpu;         ///< if there is none
    std::vector<DeviceLink> links;  ///< one for each pair of GPUs
    Device cpu;
    int threads = 0;  ///< that the process may use
    std::string mpi;  ///< the library's version; empty: why_no_mpi
    std::string why_no_mpi;
    std::string nccl;  ///< the same
    std::string why_no_nccl;
    std::optional<DataLocation> found;  ///< empty if the user named data that is not there
    std::vector<FileChecksum> checksums;
    std::string data_problem;  ///< why it cannot be used
    std::string fetch_script;  ///< that gets MNIST, beside an installed program; empty: there is none
    std::string cache;         ///< the user's cache folder; empty: none
    std::uint64_t cache_bytes = 0, cache_limit = 0;
};

/// bin/mnist-knn is installed together with share/mnist-knn/fetch_mnist.sh, which gets MNIST; empty: it is not there.
std::string installed_fetch_script();

/// Looks for GPUs; meanwhile hashes the data set's files and loads them, which finds what is wrong with them.
Inventory take_inventory(const DataOptions& options);

}  // namespace knn
