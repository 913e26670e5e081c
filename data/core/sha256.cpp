#include "data/core/sha256.h"

#include <array>

namespace knn {

Sha256::Sha256() {
    SHA256_Init(&context_);
}

void Sha256::add(const void* bytes, std::size_t size) {
    SHA256_Update(&context_, bytes, size);
}

std::string Sha256::hex() {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256_Final(digest.data(), &context_);
    std::string text;
    for (const unsigned byte : digest)
        text += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    return text;
}

}  // namespace knn
