#include "data/core/errors.h"
#include "data/picture/picture_module.h"

namespace knn {

const PictureModule& picture_module() {
    throw DataError(
        "pictures: this build has neither image formats nor windows; expected a build with OpenCV");
}

}  // namespace knn
