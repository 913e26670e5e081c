#include "data/picture/opencv/functions.h"

extern "C" {
__attribute__((visibility("default"))) extern const knn::PictureModule mnist_knn_pictures;
const knn::PictureModule mnist_knn_pictures = {knn::opencv::decode,   knn::opencv::show,
                                               knn::opencv::wait_key, knn::opencv::is_visible,
                                               knn::opencv::close,    knn::opencv::watch_mouse};
}
