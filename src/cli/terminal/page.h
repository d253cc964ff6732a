// Markdown pages in a terminal.
#pragma once

#include <string>
#include <string_view>

namespace mneme::cli {

// The page as wide as the terminal on standard output; unchanged where there is none.
std::string fit_page(std::string_view page);
// The same for any width: the lines of a paragraph or of an item are joined and broken at spaces. Headings, tables and
// code stay as they are.
std::string fit_page_to(std::string_view page, std::size_t columns);

}  // namespace mneme::cli
