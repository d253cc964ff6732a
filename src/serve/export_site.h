// The dashboard as files for any web server.
#pragma once

#include <cstddef>

#include "store/lab.h"

namespace mneme::serve {

// Writes the page, and each answer of the API as a file (docs/serve.md), into `directory`, which may exist. Returns the
// number of files. Throws Error(io).
std::size_t export_site(const store::Lab& lab, const Path& results, const Path& directory);

}  // namespace mneme::serve
