#include "support/places.h"

namespace mneme {

const std::string& source_directory() {
  static const std::string path = MNEME_SOURCE_DIR;
  return path;
}

const std::string& binary_directory() {
  static const std::string path = MNEME_BINARY_DIR;
  return path;
}

}  // namespace mneme
