// The pages of docs/mixers, compiled into the program.
#pragma once

#include <string_view>
#include <utility>

namespace mneme::catalog {

// The Markdown text of docs/mixers/NAME.md; "" if there is none.
std::string_view mixer_page(std::string_view name);

}  // namespace mneme::catalog
