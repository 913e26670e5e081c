#pragma once
/// The functions behind the table of data/picture/picture_module.h, which says what they do.

#include "data/picture/picture_module.h"

namespace knn::opencv {

bool decode(const std::uint8_t* bytes, std::size_t size, Picture& picture, bool& damaged, std::string& error);

bool show(const char* name, const std::uint8_t* bgr, int rows, int cols, std::string& error);
int wait_key(int milliseconds);
bool is_visible(const char* name);
void close(const char* name);
void watch_mouse(const char* name, void (*call)(void* data, MouseAction action, int x, int y), void* data);

}  // namespace knn::opencv
