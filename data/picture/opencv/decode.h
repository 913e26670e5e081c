#pragma once

#include "data/picture/picture_module.h"

namespace knn::opencv {

/// PictureModule::decode.
bool decode(const std::uint8_t* bytes, std::size_t size, Picture& picture, bool& damaged, std::string& error);

}  // namespace knn::opencv
