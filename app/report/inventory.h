#pragma once
/// What `info` shows, for people and machines.

#include <string>

#include "classifier/inventory.h"

namespace knn {

std::string inventory_text(const Inventory& inventory);

/// Schema mnist-knn/info/1.
std::string inventory_json(const Inventory& inventory);

}  // namespace knn
