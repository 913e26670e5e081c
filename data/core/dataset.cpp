#include "data/core/dataset.h"

#include <utility>

namespace knn {

namespace {
constexpr std::size_t cache_line = 64;  // bytes; vector loads of whole lines stay inside one
}

Bytes::Bytes(std::size_t size, std::pmr::memory_resource* memory)
    : memory_(memory),
      data_(size > 0 ? static_cast<std::uint8_t*>(memory->allocate(size, cache_line)) : nullptr),
      size_(size) {}

Bytes::Bytes(Bytes&& other) noexcept
    : memory_(other.memory_),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Bytes& Bytes::operator=(Bytes&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

Bytes::~Bytes() {
    if (data_ != nullptr) memory_->deallocate(data_, size_, cache_line);
}

}  // namespace knn
