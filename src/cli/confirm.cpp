#include "cli/confirm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "core/error.h"

namespace mneme::cli {

bool confirmed(std::string_view what, bool yes) {
  if (yes) return true;
  if (::isatty(STDIN_FILENO) != 1)
    throw Error(ErrorKind::usage, "--yes",
                fmt::format("needed to {}: standard input is not a terminal, so nobody can confirm", what));
  fmt::print(stderr, "{}? [y/N] ", what);
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

}  // namespace mneme::cli
