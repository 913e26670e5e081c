#pragma once
/// Arrays for the kernels: aligned to cache lines and uninitialized, so that each page is first touched by
/// the thread that fills it.

#include <cstddef>
#include <memory>
#include <new>

namespace knn::cpu {

template <class T>
class Aligned {
  public:
    Aligned() = default;
    /// Throws std::bad_alloc.
    explicit Aligned(std::size_t size)
        : data_(static_cast<T*>(::operator new[](size * sizeof(T), std::align_val_t{64}))) {}

    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](std::size_t i) { return data_.get()[i]; }
    const T& operator[](std::size_t i) const { return data_.get()[i]; }

  private:
    struct Free {
        void operator()(T* data) const { ::operator delete[](data, std::align_val_t{64}); }
    };
    std::unique_ptr<T, Free> data_;
};

}  // namespace knn::cpu
