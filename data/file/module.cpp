#include "data/file/module.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <system_error>

#include "data/core/errors.h"

namespace knn {

namespace fs = std::filesystem;

namespace {

/// A file and its modules' folder: the shared library that this code is part of, or else the program.
struct Holder {
    fs::path file;
    const char* modules;  ///< from the folder of the file
};

Holder holder() {
    Dl_info info = {};
    link_map* map = nullptr;
    std::error_code error;
    if (::dladdr1(reinterpret_cast<const void*>(&load_module), &info, reinterpret_cast<void**>(&map),
                  RTLD_DL_LINKMAP) != 0 &&
        map != nullptr && map->l_name[0] != '\0')
        if (fs::path library = fs::canonical(map->l_name, error); !error) return {library, "mnist-knn"};
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    // Without its folder the module would be looked for, and run, wherever the user happens to be.
    if (error)
        throw DataError("/proc/self/exe: cannot be read: " + error.message() +
                        "; expected /proc, which tells where the program and its modules are");
    return {program, MNIST_KNN_MODULE_FOLDER};
}

/// Throws DataError if it is missing.
fs::path find_module(const ModuleName& name) {
    std::error_code error;
    const Holder self = holder();
    const fs::path folder = self.file.parent_path();
    const std::string file_name = std::string(name.file) + MNIST_KNN_MODULE_SUFFIX;
    const fs::path beside = folder / file_name;
    const fs::path installed = (folder / self.modules / file_name).lexically_normal();
    fs::path file = fs::exists(beside, error) ? beside : installed;
    if (!fs::exists(file, error))
        throw DataError(file.string() + ": is missing; " + self.file.filename().string() +
                        " needs this module for " + name.purpose + ": expected it there or beside it");
    return file;
}

}  // namespace

std::string missing_module(const ModuleName& name) {
    try {
        find_module(name);
        return "";
    } catch (const DataError& error) {
        return error.what();
    }
}

/// dlopen() keeps the module for the rest of the process: its libraries cannot be unloaded safely.
const void* load_module(const ModuleName& name) {
    const fs::path file = find_module(name);
    void* module = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (module == nullptr) {
        const std::string reason = ::dlerror();
        throw DataError(file.string() + ": cannot be loaded (" + reason +
                        "); expected the module of this build, " + name.libraries +
                        ", and enough memory for them");
    }
    const void* table = ::dlsym(module, name.table);
    if (table == nullptr)
        throw DataError(file.string() + ": is no module for " + name.purpose +
                        "; expected the one of this build");
    return table;
}

}  // namespace knn
