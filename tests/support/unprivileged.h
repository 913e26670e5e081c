#pragma once
/// Root ignores permissions, so tests of them temporarily drop privileges.

#include <unistd.h>

namespace knn::test {

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
