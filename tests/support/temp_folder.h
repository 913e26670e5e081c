#pragma once
/// A folder for one test, with helpers to write and read files.

#include <filesystem>
#include <string>
#include <string_view>

namespace knn::test {

/// Created empty, removed with its content.
class TempFolder {
  public:
    TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder();

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    /// Writes `content` (folders on the way are made) and returns the whole path.
    std::filesystem::path write(std::string_view name, std::string_view content) const;

  private:
    std::filesystem::path path_;
};

/// Of a test case.
struct InFolder {
    TempFolder folder;
};

/// The whole content of a file; throws std::runtime_error where it cannot be read.
std::string read_file(const std::filesystem::path& file);

}  // namespace knn::test
