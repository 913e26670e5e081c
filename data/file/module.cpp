#include "data/file/module.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "data/core/errors.h"

namespace knn {

namespace fs = std::filesystem;

/// dlopen() keeps the module for the rest of the process: its libraries cannot be unloaded safely.
const void* load_module(const ModuleName& name) {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    const std::string purpose = name.purpose;
    // Without its folder the module would be looked for, and run, wherever the user happens to be.
    if (error)
        throw DataError("/proc/self/exe: cannot be read: " + error.message() +
                        "; expected /proc, which tells where the program and its module for " + purpose +
                        " are");
    const fs::path folder = program.parent_path();
    const std::string file_name = std::string(name.file) + MNIST_KNN_MODULE_SUFFIX;
    const fs::path beside = folder / file_name;
    const fs::path installed = (folder / MNIST_KNN_MODULE_FOLDER / file_name).lexically_normal();
    const fs::path& file = fs::exists(beside, error) ? beside : installed;
    if (!fs::exists(file, error))
        throw DataError(file.string() + ": is missing; the program needs this module for " + purpose +
                        ": expected it there or beside the program");
    void* module = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (module == nullptr) {
        const std::string reason = ::dlerror();
        throw DataError(file.string() + ": cannot be loaded (" + reason +
                        "); expected the module of this build, " + name.libraries +
                        ", and enough memory for them");
    }
    const void* table = ::dlsym(module, name.table);
    if (table == nullptr)
        throw DataError(file.string() + ": is no module for " + purpose + "; expected the one of this build");
    return table;
}

}  // namespace knn
