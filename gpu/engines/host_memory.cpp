// Host memory that can be filled while the CUDA context is still being created, and is pinned afterwards.

#include <sys/mman.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <new>
#include <vector>

#include "gpu/engines/strategies.h"

namespace knn::gpu {

namespace {

/// Whole pages for every allocation, because memory is pinned in pages.
class RegisteredMemory final : public HostMemory, std::pmr::memory_resource {
  public:
    RegisteredMemory(int device, bool for_tensor)
        // The default policy: if no thread can be started, `pin` creates the context.
        : context_(std::async([device] {
                       check(cudaSetDevice(device), "choosing the device");
                       check(cudaFree(nullptr), "creating the context");
                   }).share()),
          kernels_(std::async([device, for_tensor, context = context_] {
              context.get();
              if (for_tensor) load_tensor_kernels(device);
          })),
          device_(device) {}

    ~RegisteredMemory() override {
        kernels_.wait();
        for (const Block& block : blocks_)
            release(block);
    }

    std::pmr::memory_resource* resource() override { return this; }

    void pin() override {
        context_.get();
        check(cudaSetDevice(device_), "choosing the device");
        const std::lock_guard lock(mutex_);
        for (Block& block : blocks_) {
            if (block.pinned) continue;
            check(cudaHostRegister(block.data, block.bytes, cudaHostRegisterDefault), "pinning host memory");
            block.pinned = true;
        }
    }

  private:
    struct Block {
        void* data;
        std::size_t bytes;
        bool pinned;
    };

    void* do_allocate(std::size_t bytes, std::size_t) override {
        void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data == MAP_FAILED) throw std::bad_alloc();
        const std::lock_guard lock(mutex_);
        blocks_.push_back({data, bytes, false});
        return data;
    }

    void do_deallocate(void* data, std::size_t, std::size_t) override {
        const std::lock_guard lock(mutex_);
        const auto block =
            std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& one) { return one.data == data; });
        release(*block);
        blocks_.erase(block);
    }

    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    static void release(const Block& block) {
        if (block.pinned) cudaHostUnregister(block.data);
        munmap(block.data, block.bytes);
    }

    std::shared_future<void> context_;
    std::future<void> kernels_;  // a launch before this ends waits for it, and reports its error
    int device_;
    std::mutex mutex_;  // files are read on several threads
    std::vector<Block> blocks_;
};

}  // namespace

std::unique_ptr<HostMemory> host_memory(int device, bool for_tensor) {
    return std::make_unique<RegisteredMemory>(device, for_tensor);
}

}  // namespace knn::gpu
