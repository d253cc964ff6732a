#include "cli/terminal/page.h"

#include <algorithm>

#include "cli/terminal/fit.h"
#include "cli/terminal/terminal.h"
#include "core/text.h"

namespace mneme::cli {
namespace {

bool is_item(std::string_view line) { return line.starts_with("- "); }

// What the next line may not be joined to, and what may not be broken.
bool is_fixed(std::string_view line) {
  return line.empty() || line.starts_with('#') || line.starts_with('|') || line.starts_with("    ");
}

}  // namespace

std::string fit_page_to(std::string_view page, std::size_t columns) {
  std::string result, paragraph;
  const auto end_paragraph = [&] {
    if (paragraph.empty()) return;
    result += fit_to(paragraph, columns, is_item(paragraph) ? 2 : 0) + "\n";
    paragraph.clear();
  };
  bool code = false;
  std::vector<std::string> lines = split(std::string(page), '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (const std::string& line : lines) {
    const bool fence = line.starts_with("```");
    if (code || fence || is_fixed(line)) {
      end_paragraph();
      result += line + "\n";
      code = code != fence;
      continue;
    }
    if (is_item(line)) end_paragraph();
    const std::size_t text = std::min(line.find_first_not_of(' '), line.size());
    paragraph += paragraph.empty() ? line : " " + line.substr(text);
  }
  end_paragraph();
  return result;
}

std::string fit_page(std::string_view page) {
  const Terminal terminal = terminal_of(stdout);
  if (!terminal.is_terminal) return std::string(page);
  return fit_page_to(page, static_cast<std::size_t>(std::max(terminal.columns, 20)));
}

}  // namespace mneme::cli
