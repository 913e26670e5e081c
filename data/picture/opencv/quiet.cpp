#include "data/picture/opencv/quiet.h"

#include <sys/mman.h>

#include <cstdio>

namespace knn::opencv {

Quiet::Quiet() : heard_(::memfd_create("codecs", MFD_CLOEXEC)), shown_(::dup(STDERR_FILENO)) {
    std::fflush(stderr);
    if (heard_.is_open() && shown_.is_open()) ::dup2(heard_.number(), STDERR_FILENO);
}

Quiet::~Quiet() {
    std::fflush(stderr);
    if (heard_.is_open() && shown_.is_open()) ::dup2(shown_.number(), STDERR_FILENO);
}

bool Quiet::heard_of_damage() const {
    std::fflush(stderr);
    std::string text(16384, '\0');
    const auto size = heard_.is_open() ? ::pread(heard_.number(), text.data(), text.size(), 0) : 0;
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    for (const char* words : {"Premature end", "Corrupt JPEG", "premature", "Read error", "Not enough data",
                              "CRC error", "Decoding error", "LZWDecode", "ZIPDecode"})
        if (text.find(words) != std::string::npos) return true;
    return false;
}

}  // namespace knn::opencv
