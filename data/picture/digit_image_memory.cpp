#include <new>
#include <opencv2/core.hpp>

#include "data/picture/digit_image.h"

namespace knn {

namespace {

/// Called before OpenCV throws.
int throw_bad_alloc(int status, const char*, const char*, const char*, int, void*) {
    if (status == cv::Error::StsNoMem) throw std::bad_alloc();
    return 0;
}

}  // namespace

void make_opencv_throw_bad_alloc() {
    cv::redirectError(throw_bad_alloc);
}

}  // namespace knn
