#pragma once

#include <cstdlib>
#include <string>

namespace knn::test {

/// Sets MNIST_KNN_ISA as long as it lives.
class Isa {
  public:
    explicit Isa(const std::string& name) {
        if (const char* old = std::getenv(variable)) old_ = old;
        setenv(variable, name.c_str(), 1);
    }
    ~Isa() {
        if (old_.empty())
            unsetenv(variable);
        else
            setenv(variable, old_.c_str(), 1);
    }

  private:
    static constexpr const char* variable = "MNIST_KNN_ISA";
    std::string old_;
};

}  // namespace knn::test
