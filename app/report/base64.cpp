#include "app/report/base64.h"

#include <openssl/evp.h>

namespace knn {

std::string base64(const std::vector<std::uint8_t>& bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // OpenSSL adds a final zero
    text.resize(static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                                         bytes.data(), static_cast<int>(bytes.size()))));
    return text;
}

}  // namespace knn
