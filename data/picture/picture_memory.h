#pragma once
/// Bounds the memory of pictures that are decoded at the same time.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

namespace knn {

/// What threads that decode pictures share.
class PictureMemory {
  public:
    /// Calls `work`, which decodes the picture `file`, once what it may need (by the file's header, and `more_bytes` beside
    /// that) fits into memory with the pictures of other threads: all together take no more than one of the largest size.
    /// A picture whose size is not known before it is read (a pipe, standard input) is alone. If memory runs out, `work`
    /// is called again as soon as no other picture is in work, so that an answer depends on no other picture; throws
    /// std::bad_alloc if that does not help.
    void decode(const std::string& file, std::int64_t more_bytes, const std::function<void()>& work);

  private:
    class Share;

    std::mutex mutex_;  ///< of `used_`
    std::condition_variable released_;
    std::int64_t used_ = 0;
};

}  // namespace knn
