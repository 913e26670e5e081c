#pragma once
/// Several things that are all to be done, whatever becomes of one of them.

#include <exception>
#include <functional>

namespace knn {

/// Does one thing after the other; an error waits until all are done, a wish to stop does not.
class Attempts {
  public:
    /// Throws Interrupted if the user asked to stop.
    void operator()(const std::function<void()>& work);
    /// Throws the first error that there was.
    void finish() const;

  private:
    std::exception_ptr first_;
};

}  // namespace knn
