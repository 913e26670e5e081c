#pragma once
/// Parts of the program and the library in shared objects of their own, loaded on first use: their libraries take time to load, or are
/// not on every machine.

#include <string>

namespace knn {

struct ModuleName {
    const char* file;       ///< without the ending
    const char* table;      ///< the symbol
    const char* purpose;    ///< what it is needed for
    const char* libraries;  ///< that it needs
};

/// Loads the module from the folder of the program, or of the shared library that this code is part of, or from
/// mnist-knn/ in the library folder of the installation, and returns the address of its table. Throws DataError if it is missing.
const void* load_module(const ModuleName& name);

/// Whether the file of the module is missing: what the exception of load_module says, which has no look at the file here. Empty: it is there.
std::string missing_module(const ModuleName& name);

}  // namespace knn
