#include "tests/support/skip.h"

#include "tests/support/test.h"

#include <cstdio>

namespace knn::test {

namespace {
std::string folder(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && std::filesystem::is_directory(value) ? value : "";
}

std::set<const void*>& skipped() {
    static std::set<const void*> cases;
    return cases;
}
}  // namespace

void skip(const std::string& why) {
    std::printf("[skipped] %s\n", why.c_str());
    skipped().insert(doctest::getContextOptions()->currentTest);
}
std::size_t skipped_cases() {
    return skipped().size();
}
std::string mnist_folder() {
    return folder("MNIST_KNN_DATA");
}
std::string photos_folder() {
    return folder("MNIST_KNN_PHOTOS");
}
std::string seeds_folder() {
    return folder("MNIST_KNN_SEEDS");
}
std::string pictures_folder() {
    return folder("MNIST_KNN_PICTURES");
}
std::string more_pictures_folder() {
    return folder("MNIST_KNN_PICTURES2");
}

}  // namespace knn::test
