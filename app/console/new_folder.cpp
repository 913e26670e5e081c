#include "app/console/new_folder.h"

#include "data/core/errors.h"

namespace fs = std::filesystem;

namespace knn {

NewFolder::~NewFolder() {
    std::error_code not_empty;
    for (const fs::path& folder : made_)
        fs::remove(folder, not_empty);
}

void NewFolder::make(const fs::path& folder) {
    std::error_code error;
    for (fs::path part = folder; !part.empty() && !fs::exists(part, error); part = part.parent_path())
        made_.push_back(part);
    fs::create_directories(folder, error);
    if (error)
        throw DataError(folder.string() + ": cannot be made: " + error.message() + "; expected a folder");
}

}  // namespace knn
