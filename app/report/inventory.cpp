#include "app/report/inventory.h"

#include <future>

#include "cpu/search.h"
#include "data/cache.h"
#include "data/errors.h"

namespace knn {

Inventory take_inventory(const DataOptions& options) {
    Inventory inventory;
    std::future<std::vector<Device>> gpus_found =
        std::async(std::launch::async, [&why = inventory.why_no_gpu] { return gpus(&why); });
    inventory.cpu = cpu_device();
    inventory.threads = cpu::available_threads();
    try {
        inventory.found = locate(options);
        inventory.checksums = checksums(*inventory.found);
    } catch (const DataError& error) {
        inventory.data_problem = error.what();
    }
    inventory.cache = cache_folder().string();
    inventory.cache_bytes = cache_bytes();
    inventory.gpus = gpus_found.get();
    return inventory;
}

}  // namespace knn
