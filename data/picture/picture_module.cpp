#include "data/picture/picture_module.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "data/core/errors.h"

namespace knn {

namespace {

namespace fs = std::filesystem;

/// dlopen() keeps the module for the rest of the process: its libraries cannot be unloaded safely.
const PictureModule& load() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    // Without its folder the module would be looked for, and run, wherever the user happens to be.
    if (error)
        throw DataError("/proc/self/exe: cannot be read: " + error.message() +
                        "; expected /proc, which tells where the program and its module for pictures are");
    const fs::path folder = program.parent_path();
    const fs::path beside = folder / MNIST_KNN_MODULE_FILE;
    const fs::path installed = (folder / MNIST_KNN_MODULE_FOLDER / MNIST_KNN_MODULE_FILE).lexically_normal();
    const fs::path& file = fs::exists(beside, error) ? beside : installed;
    if (!fs::exists(file, error))
        throw DataError(file.string() +
                        ": is missing; the program needs this module for pictures: expected it "
                        "there or beside the program");
    void* module = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (module == nullptr) {
        const std::string reason = ::dlerror();
        throw DataError(file.string() + ": cannot be loaded (" + reason +
                        "); expected the module of this build "
                        "and OpenCV's libraries");
    }
    const void* table = ::dlsym(module, "mnist_knn_pictures");
    if (table == nullptr)
        throw DataError(file.string() + ": is no module for pictures; expected the one of this build");
    return *static_cast<const PictureModule*>(table);
}

}  // namespace

const PictureModule& picture_module() {
    static const PictureModule& module = load();
    return module;
}

}  // namespace knn
