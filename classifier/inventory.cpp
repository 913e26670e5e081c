#include "classifier/inventory.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <limits>

#include "classifier/ranks.h"
#include "cpu/host/host.h"
#include "data/core/errors.h"
#include "data/set/cache.h"

namespace knn {

namespace {

/// Not the built-in digits, which are always right, and not pipes, which would be empty for the checksums.
bool can_be_read_again(const DataLocation& location) {
    const std::vector<std::filesystem::path>& files = location.files;
    std::error_code none;
    return !files.empty() && std::all_of(files.begin(), files.end(), [&](const auto& file) {
        return std::filesystem::is_regular_file(file, none);
    });
}

}  // namespace

std::string installed_fetch_script() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return "";
    const auto script = program.parent_path().parent_path() / "share/mnist-knn/fetch_mnist.sh";
    return std::filesystem::is_regular_file(script, error) ? script.string() : "";
}

Inventory take_inventory(const DataOptions& options) {
    Inventory inventory;
    std::future<void> looked = std::async([&inventory] {
        inventory.gpus = gpus(&inventory.why_no_gpu);
        inventory.links = links();
        inventory.nccl = nccl_version(inventory.why_no_nccl);
    });
    inventory.cpu = cpu_device();
    inventory.threads = cpu::available_threads();
    // Of a set that was not read the checksums tell which file is not MNIST's, not those of larger content, which may be endless.
    constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max(), larger = 64 << 20;
    std::uint64_t most_bytes = larger;
    try {
        inventory.found = locate(options);
        // First: headers that do not fit each other are refused before anything is unpacked.
        if (can_be_read_again(*inventory.found)) {
            load(*inventory.found);
            most_bytes = no_limit;
        }
    } catch (const DataError& error) {
        inventory.data_problem = error.what();
    }
    try {
        if (inventory.found) inventory.checksums = checksums(*inventory.found, most_bytes);
    } catch (const DataError& error) {
        if (inventory.data_problem.empty()) inventory.data_problem = error.what();
    }
    try {
        inventory.mpi = mpi_version();
    } catch (const DataError& error) {
        inventory.why_no_mpi = error.what();
    }
    inventory.fetch_script = installed_fetch_script();
    inventory.cache = cache_folder().string();
    inventory.cache_bytes = cache_bytes();
    inventory.cache_limit = cache_limit();
    looked.get();
    return inventory;
}

}  // namespace knn
