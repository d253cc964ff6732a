// Where the tests find the sources and the programs. Known to one file only, so that the compiler's cache serves every
// clone.
#pragma once

#include <string>

namespace mneme {

const std::string& source_directory();
const std::string& binary_directory();

}  // namespace mneme
