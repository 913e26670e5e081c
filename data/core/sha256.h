#pragma once

#include <array>
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
    Sha256() { SHA256_Init(&context_); }
    void add(const void* bytes, std::size_t size) { SHA256_Update(&context_, bytes, size); }
    /// In hexadecimal, of all bytes; ends the use of this.
    std::string hex() {
        std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
        SHA256_Final(digest.data(), &context_);
        std::string text;
        for (const unsigned byte : digest)
            text += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
        return text;
    }

  private:
    SHA256_CTX context_;
};

}  // namespace knn
