#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "app/report/sprite.h"

namespace knn {

/// A template of page_files.h with its scripts, the style of all pages, data for the scripts, the images of the sprite, and
/// an SVG for the templates that show one: one file that needs no other.
std::string page_text(std::string_view html, std::string_view js, const nlohmann::json& data,
                      const Sprite& sprite, std::string_view svg = {});

}  // namespace knn
