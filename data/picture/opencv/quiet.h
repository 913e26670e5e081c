#pragma once
/// Codecs write warnings to standard error by themselves, which belongs to the program.

#include <string>

namespace knn::opencv {

/// While it lives, what codecs write to standard error in this thread is kept here in place of being shown.
/// Other threads, and the descriptor of standard error, are left alone.
class Quiet {
  public:
    /// Throws std::bad_alloc.
    Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;
    ~Quiet();

    /// Whether libjpeg, libpng or libtiff said that it went on without some of the data.
    bool heard_of_damage() const;

  private:
    std::string heard_;
};

}  // namespace knn::opencv
