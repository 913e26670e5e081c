#pragma once
/// Codecs write warnings to standard error by themselves, which belongs to the program.

#include <string>

#include "data/file/file_descriptor.h"

namespace knn::opencv {

/// While it lives, what the process writes to standard error is kept here in place of being shown.
class Quiet {
  public:
    Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;
    ~Quiet();

    /// Whether libjpeg, libpng or libtiff said that it went on without some of the data.
    bool heard_of_damage() const;

  private:
    FileDescriptor heard_, shown_;
};

}  // namespace knn::opencv
