#pragma once

#include "tests/support/surroundings.h"

namespace knn::test {

/// Sets MNIST_KNN_ISA as long as it lives.
struct Isa : Surroundings {
    explicit Isa(const std::string& name) : Surroundings(std::filesystem::current_path()) {
        set("MNIST_KNN_ISA", name);
    }
};

}  // namespace knn::test
