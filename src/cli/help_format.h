// How --help reads: arguments by what they are called in the text, lines that fit a terminal.
#pragma once

#include <memory>
#include <string>

namespace CLI {
class FormatterBase;
class App;
class ParseError;
}  // namespace CLI

namespace mneme::cli {

// A line of at most 100 columns, fewer in a narrower terminal; names on the left, descriptions broken at spaces.
std::shared_ptr<CLI::FormatterBase> help_format();

// The error for wrong arguments of a command, as `[command] what, got X, expected Y`.
std::string explain_parse_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace mneme::cli
