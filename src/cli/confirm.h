// Asking before something is removed.
#pragma once

#include <string_view>

namespace mneme::cli {

// True if --yes was given or the person at the terminal agrees to "`what`?". Throws Error(usage) where nobody can be
// asked.
bool confirmed(std::string_view what, bool yes);

}  // namespace mneme::cli
