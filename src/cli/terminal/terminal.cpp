#include "cli/terminal/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/text.h"

namespace mneme::cli {
namespace {

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

}  // namespace

Terminal terminal_of(std::FILE* stream) {
  Terminal terminal;
  // The standard streams may be without a descriptor of their own (output.h).
  const int descriptor = stream == stdout ? STDOUT_FILENO : stream == stderr ? STDERR_FILENO : ::fileno(stream);
  const char* kind = std::getenv("TERM");
  terminal.is_terminal = ::isatty(descriptor) == 1 && kind && std::string_view(kind) != "dumb";
  const char* refused = std::getenv("NO_COLOR");
  terminal.color = terminal.is_terminal && !(refused && *refused);
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) terminal.columns = size.ws_col;
  return terminal;
}

std::string paint(std::string_view text, Color color, const Terminal& terminal) {
  static constexpr const char* kCodes[] = {"0", "1", "2", "31", "32", "33", "36"};
  if (!terminal.color || color == Color::none) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<int>(color)], text);
}

std::string harmless(std::string_view text) {
  std::string result(text);
  for (char& byte : result) {
    if (byte == '\n' || byte == '\t')
      byte = ' ';
    else if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f)
      byte = '?';
  }
  return result;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string clipped(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::size_t end = 0;
  for (std::size_t left = columns; end < text.size(); ++end)
    if (starts_code_point(text[end]) && left-- == 1) break;
  return std::string(text.substr(0, end)) + "…";
}

std::string padded(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return std::string(text) + std::string(columns > width ? columns - width : 0, ' ');
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", grouped(static_cast<std::int64_t>(count)), what, count == 1 ? "" : "s");
}

std::string bar(double share, std::size_t columns) {
  static constexpr const char* kEighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clean = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  const auto eighths = static_cast<std::size_t>(std::lround(clean * static_cast<double>(columns) * 8));
  std::string result;
  for (std::size_t i = 0; i < columns; ++i) {
    if (8 * (i + 1) <= eighths)
      result += "█";
    else if (8 * i >= eighths)
      result += " ";
    else
      result += kEighths[eighths - 8 * i];
  }
  return result;
}

}  // namespace mneme::cli
