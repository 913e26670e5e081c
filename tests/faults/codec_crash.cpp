// A library for LD_PRELOAD in which OpenCV's decoder ends the process, or never: MNIST_KNN_CRASH is abort, segv, nomem or
// hang.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <opencv2/core.hpp>

namespace cv {

CV_EXPORTS_W Mat imdecode(InputArray, int);

Mat imdecode(InputArray, int) {
    const char* kind = std::getenv("MNIST_KNN_CRASH");
    if (std::strcmp(kind, "abort") == 0) std::abort();
    if (std::strcmp(kind, "segv") == 0) *static_cast<volatile int*>(nullptr) = 0;
    while (std::strcmp(kind, "hang") == 0)
        ::pause();
    CV_Error(Error::StsNoMem, "no memory");
}

}  // namespace cv
