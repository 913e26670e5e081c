#include "data/picture/picture_module.h"

#include "data/file/module.h"

namespace knn {

namespace {

constexpr ModuleName module_name{.file = "mnist-knn-pictures",
                                 .table = "mnist_knn_pictures",
                                 .purpose = "pictures",
                                 .libraries = "OpenCV's libraries"};

}  // namespace

const PictureModule& picture_module() {
    static const auto& module = *static_cast<const PictureModule*>(load_module(module_name));
    return module;
}

std::string missing_picture_module() {
    return missing_module(module_name);
}

}  // namespace knn
