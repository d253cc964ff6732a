// What the terminal can do, and text that is safe and fits on it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace mneme::cli {

struct Terminal {
  bool is_terminal = false;
  bool color = false;  // a terminal, and neither NO_COLOR nor TERM=dumb
  int columns = 80;
};

Terminal terminal_of(std::FILE* stream);

enum class Color { none, bold, dim, red, green, yellow, cyan };
std::string paint(std::string_view text, Color color, const Terminal& terminal);

// Control characters become '?': stored text cannot drive the terminal. Newlines become spaces.
std::string harmless(std::string_view text);

// Code points, which is columns for what Mneme prints.
std::size_t display_width(std::string_view text);
// At most `columns` code points, the last one an ellipsis if something is cut off.
std::string clipped(std::string_view text, std::size_t columns);
// Filled up with spaces on the right.
std::string padded(std::string_view text, std::size_t columns);

// "1 run", "2,500 runs".
std::string counted(std::size_t count, std::string_view what);

// A bar of `columns` characters, filled by `share` in eighths of a character.
std::string bar(double share, std::size_t columns);

}  // namespace mneme::cli
