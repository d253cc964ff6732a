#include "cli/terminal/fit.h"

#include <algorithm>

#include "cli/terminal/terminal.h"
#include "core/text.h"

namespace mneme::cli {
namespace {

// 0: any width.
std::size_t room(std::FILE* stream) {
  const Terminal terminal = terminal_of(stream);
  return terminal.is_terminal ? static_cast<std::size_t>(std::max(terminal.columns, 20)) : 0;
}

}  // namespace

std::string fit(const report::Table& table) { return report::to_text(table, room(stdout)); }

std::string fit(const std::string& sentence, std::size_t indent) {
  const std::size_t columns = room(stdout);
  return columns <= indent ? sentence : fit_to(sentence, columns, indent);
}

std::string fit_message(const std::string& message) {
  const std::size_t columns = room(stderr);
  return columns == 0 ? message : fit_to(message, columns, 2);
}

std::string fit_to(const std::string& text, std::size_t columns, std::size_t indent) {
  return join(report::broken(text, columns - indent), "\n" + std::string(indent, ' '));
}

}  // namespace mneme::cli
