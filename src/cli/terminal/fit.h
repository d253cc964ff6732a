// Tables and sentences on standard output: as wide as the terminal where there is one, as wide as they are elsewhere.
#pragma once

#include <string>

#include "report/pages/table.h"

namespace mneme::cli {

// The table as lines that fit (report::to_text).
std::string fit(const report::Table& table);
// A sentence broken at spaces, all lines but the first indented; the first may begin there too.
std::string fit(const std::string& sentence, std::size_t indent = 2);
// A message on standard error, all lines but the first indented by two.
std::string fit_message(const std::string& message);
// The same for any width, which is more than the indent.
std::string fit_to(const std::string& text, std::size_t columns, std::size_t indent);

}  // namespace mneme::cli
