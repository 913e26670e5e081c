#include "data/picture/picture_module.h"

#include "data/file/module.h"

namespace knn {

const PictureModule& picture_module() {
    static const auto& module =
        *static_cast<const PictureModule*>(load_module({.file = "mnist-knn-pictures",
                                                        .table = "mnist_knn_pictures",
                                                        .purpose = "pictures",
                                                        .libraries = "OpenCV's libraries"}));
    return module;
}

}  // namespace knn
