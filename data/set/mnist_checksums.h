#pragma once
/// The four files of MNIST: their names and the checksums of their uncompressed content.

#include <array>
#include <cstdint>

namespace knn {

/// CRC-32 is what gzip carries anyway, so that loading can compare it at no cost; SHA-256 is for `info` and
/// for downloads, which may be malicious.
struct MnistFile {
    const char* name;
    std::uint32_t crc32;
    const char* sha256;
};

/// Training images and labels, test images and labels.
inline constexpr std::array<MnistFile, 4> mnist_files = {{
    {"train-images-idx3-ubyte", 0xe9f4d8b3,
     "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
    {"train-labels-idx1-ubyte", 0xe0cb4ad2,
     "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
    {"t10k-images-idx3-ubyte", 0x91373bdf,
     "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
    {"t10k-labels-idx1-ubyte", 0x4ab9eff9,
     "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
}};

}  // namespace knn
