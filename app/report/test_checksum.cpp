#include "app/report/test_checksum.h"

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <stdexcept>

namespace knn {

std::string test_checksum(const LabeledImages& set, std::int64_t n) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    const std::string size =
        std::to_string(n) + ' ' + std::to_string(set.rows) + ' ' + std::to_string(set.cols) + '\n';
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    unsigned length = 0;
    const auto add = [&](const void* bytes, std::int64_t count) {
        return EVP_DigestUpdate(context.get(), bytes, static_cast<std::size_t>(count)) == 1;
    };
    const bool done = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1 &&
                      add(size.data(), std::ssize(size)) && add(set.pixels.data(), n * set.dim()) &&
                      add(set.labels.data(), n) &&
                      EVP_DigestFinal_ex(context.get(), hash.data(), &length) == 1;
    if (!done) throw std::runtime_error("SHA-256 is not available");
    std::string text;
    for (unsigned i = 0; i < length; ++i)
        text += {"0123456789abcdef"[hash[i] >> 4], "0123456789abcdef"[hash[i] & 15]};
    return text;
}

}  // namespace knn
