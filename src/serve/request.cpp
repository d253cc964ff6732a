#include "serve/request.h"

#include <fmt/format.h>

#include <cctype>
#include <optional>

#include "core/text.h"

namespace mneme::serve {
namespace {

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// Decoded once: "%252e" is "%2e", which no name of ours is.
std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += plus_is_space && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low < 0) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

}  // namespace

std::vector<std::string> Request::all(std::string_view key) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : query)
    if (name == key) values.push_back(value);
  return values;
}

std::string Request::first(std::string_view key) const {
  for (const auto& [name, value] : query)
    if (name == key) return value;
  return "";
}

bool parse_target(std::string_view target, Request& into) {
  if (!target.starts_with('/')) return false;
  for (const char letter : target)
    if (letter <= ' ' || letter > '~' || letter == '#') return false;
  into.target = target;
  into.path.clear();
  into.query.clear();
  const std::size_t mark = target.find('?');
  const std::string_view path = target.substr(1, mark == target.npos ? target.npos : mark - 1);
  if (!path.empty())
    for (const std::string& part : split(path, '/')) {
      auto plain = decoded(part, false);
      if (!plain) return false;
      into.path.push_back(std::move(*plain));
    }
  if (mark == target.npos) return true;
  for (const std::string& pair : split(target.substr(mark + 1), '&')) {
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    auto key = decoded(std::string_view(pair).substr(0, equals), true);
    auto value = decoded(equals == pair.npos ? "" : std::string_view(pair).substr(equals + 1), true);
    if (!key || !value) return false;
    into.query.emplace_back(std::move(*key), std::move(*value));
  }
  return true;
}

std::string percent_encoded(std::string_view text) {
  std::string code;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if ((byte < 128 && std::isalnum(byte)) || std::string_view("-._~!'()*").find(letter) != std::string_view::npos)
      code += letter;
    else
      code += fmt::format("%{:02X}", byte);
  }
  return code;
}

}  // namespace mneme::serve
