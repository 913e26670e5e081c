#pragma once
/// MNIST images converted to photo-like pictures. Needs OpenCV.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "data/picture/picture.h"

namespace knn::test {

/// Distortions of an image.
struct Damage {
    std::string name;
    double smallest = 3, largest = 40;  ///< times larger
    bool white_on_black = false;
    double gradient = 0;  ///< how much darker the far corner of the paper is, of its light
    double noise = 0;     ///< standard deviation, of 255
    double blur = 0;      ///< standard deviation, in pixels of the 28×28 image
    double rotation = 0;  ///< most degrees, either way
    double pen = 0;     ///< how much wider (narrower below 0) the strokes get, in pixels of the 28×28 image
    bool jpeg = false;  ///< quality 60
    double margin =
        0.1;  ///< paper around the 28×28 image on each side, in its sides; up to three times as much
    bool off_center = false;
};

/// Each distortion alone, then all of them together, dark on light and light on dark.
std::vector<Damage> damages();

/// Converts 28×28 pixels, 0 = background, to a photo of black ink on paper.
Picture photo_of(const std::uint8_t* pixels, const Damage& damage, std::mt19937& random);

}  // namespace knn::test
