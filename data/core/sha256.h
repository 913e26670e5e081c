#pragma once

#include <cstddef>
#include <string>

// The functions of OpenSSL 1.0: those since then allocate memory and load a provider, and where an allocation fails
// meanwhile OpenSSL 3.0 ends by SIGSEGV.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace knn {

/// SHA-256 of bytes that come in pieces. Needs no memory before `hex`, and cannot fail.
class Sha256 {
  public:
    Sha256();
    void add(const void* bytes, std::size_t size);
    /// In hexadecimal, of all bytes; ends the use of this.
    std::string hex();

  private:
    SHA256_CTX context_;
};

}  // namespace knn
