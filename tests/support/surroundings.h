#pragma once
/// Changes the working folder, environment variables and the user for one test.

#include "tests/support/test.h"

#include <unistd.h>

namespace knn::test {

/// Restores the working folder and all variables that it changed.
class Surroundings {
  public:
    explicit Surroundings(const std::filesystem::path& folder) : before_(std::filesystem::current_path()) {
        std::filesystem::current_path(folder);
    }
    Surroundings(const Surroundings&) = delete;
    Surroundings& operator=(const Surroundings&) = delete;
    ~Surroundings() {
        std::error_code ignored;
        std::filesystem::current_path(before_, ignored);
        for (const auto& [name, value] : saved_)
            put(name, value);
    }

    /// Without a value the variable is removed.
    void set(const std::string& name, const std::optional<std::string>& value) {
        const char* old = std::getenv(name.c_str());
        saved_.try_emplace(name, old != nullptr ? std::optional<std::string>(old) : std::nullopt);
        put(name, value);
    }

  private:
    static void put(const std::string& name, const std::optional<std::string>& value) {
        if (value)
            ::setenv(name.c_str(), value->c_str(), 1);
        else
            ::unsetenv(name.c_str());
    }
    std::filesystem::path before_;
    std::map<std::string, std::optional<std::string>> saved_;
};

/// A separate cache folder for one test.
struct OwnCache {
    TempFolder folder;
    Surroundings surroundings{folder.path()};

    OwnCache() { surroundings.set("XDG_CACHE_HOME", (folder / "cache").string()); }
    std::filesystem::path file(const std::string& name) const {
        return folder / "cache" / "mnist-knn" / name;
    }
};

/// Sets MNIST_KNN_ISA as long as it lives.
struct Isa : Surroundings {
    explicit Isa(const std::string& name) : Surroundings(std::filesystem::current_path()) {
        set("MNIST_KNN_ISA", name);
    }
};

/// Acts as an ordinary user during its lifetime, if the process may.
class Unprivileged {
  public:
    static constexpr uid_t user = 65534;  ///< the user that root switches to

    Unprivileged() : was_root_(::geteuid() == 0), is_ordinary_(!was_root_ || ::seteuid(user) == 0) {}
    Unprivileged(const Unprivileged&) = delete;
    Unprivileged& operator=(const Unprivileged&) = delete;
    ~Unprivileged() {
        if (was_root_ && is_ordinary_ && ::seteuid(0) != 0) _exit(1);
    }
    bool is_ordinary() const { return is_ordinary_; }

  private:
    bool was_root_, is_ordinary_;
};

}  // namespace knn::test
