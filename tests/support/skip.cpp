#include "tests/support/skip.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace knn::test {

namespace {
std::string folder(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && std::filesystem::is_directory(value) ? value : "";
}
}  // namespace

void skip(const std::string& why) {
    std::printf("[skipped] %s\n", why.c_str());
}
std::string mnist_folder() {
    return folder("MNIST_KNN_DATA");
}
std::string photos_folder() {
    return folder("MNIST_KNN_PHOTOS");
}

}  // namespace knn::test
