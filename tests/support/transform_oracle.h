#pragma once
/// Oracle of the transforms: each as the comments of data/transform define it, in plain loops over planes of numbers,
/// integers wherever that definition has no rounding. Shares no code with data/transform but the names of the steps
/// and the weights of a fitted projection. Plain C++, for the tests of every device.

#include <cstdint>
#include <string>
#include <vector>

#include "data/transform/fitted.h"
#include "tests/support/oracle.h"

namespace knn::test {

/// Images of one size.
struct ImageSet {
    std::string name;
    ImageShape shape;
    Rows images;

    knn::Rows rows() const { return {images.pixels.data(), images.n, images.dim}; }
};

/// Random, sparse, empty, of one gray, of one bright pixel, drawn digits; 1×1, 1×784, 784×1, 3×5, tall, wide, and
/// 257×257. Made once.
const std::vector<ImageSet>& image_sets();

/// What --transform takes, for these images: every transform, the ends of its parameters, and chains; without those
/// that make more features than a row may have.
std::vector<std::string> transform_texts(const ImageSet& set);

/// The features of one image. Of `fitted` only the spec, the shape and the projections are read.
std::vector<std::uint8_t> features_of(const FittedTransform& fitted, const std::uint8_t* image);

/// The features of all images, n × dim_out.
Rows features_of(const FittedTransform& fitted, const knn::Rows& images);

}  // namespace knn::test
