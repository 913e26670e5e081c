#pragma once
/// Runs several actions and defers errors until all have run.

#include <exception>
#include <functional>

namespace knn {

/// Runs one action after another. Errors are deferred, interruption is immediate.
class Attempts {
  public:
    /// Throws Interrupted if the user asked to stop.
    void operator()(const std::function<void()>& work);
    /// Throws the first deferred error.
    void finish() const;

  private:
    std::exception_ptr first_;
};

}  // namespace knn
