#include "store/run_filter.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "core/error.h"
#include "core/text.h"

namespace mneme::store {
namespace {

const std::map<std::string, std::string, std::less<>>& columns() {
  static const std::map<std::string, std::string, std::less<>> map = {
      {"id", "id"},           {"state", "state"},        {"outcome", "state"},
      {"reason", "reason"},   {"task", "task"},          {"mixer", "mixer"},
      {"width", "width"},     {"layers", "layers"},      {"lr", "lr"},
      {"seed", "seed"},       {"test", "test_accuracy"}, {"steps", "steps"},
      {"seconds", "seconds"}, {"changed", "changed"},    {"validation", "validation_accuracy"},
  };
  return map;
}

bool is_config_path(std::string_view name) {
  for (const std::string_view section : {"task.", "model.", "train."})
    if (name.starts_with(section) && name.size() > section.size())
      return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == name.npos;
  return false;
}

std::variant<double, std::string> parse_value(std::string_view text) {
  // SQLite reads JSON's true and false as 1 and 0.
  if (text == "true") return 1.0;
  if (text == "false") return 0.0;
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc() && end == text.data() + text.size()) return number;
  return std::string(text);
}

}  // namespace

RunKey parse_run_key(std::string_view name) {
  if (const auto found = columns().find(name); found != columns().end()) return {found->second, ""};
  if (is_config_path(name)) return {"json_extract(config, ?)", fmt::format("$.{}", name)};
  std::vector<std::string> known;
  for (const auto& [key, column] : columns()) known.push_back(key);
  throw Error(ErrorKind::usage, "filter",
              fmt::format("unknown key '{}'{}; keys of the configuration are written in full, like task.length", name,
                          suggestion(name, known)));
}

RunFilter parse_run_filter(std::string_view text) {
  const std::size_t at = text.find_first_of("!<>=");
  const std::size_t end = text.find_first_not_of("!<>=", at);
  if (at == text.npos || at == 0 || end == text.npos)
    throw Error(
        ErrorKind::usage, "filter",
        fmt::format("got '{}', expected KEY=VALUE (or != < <= > >=), for example mixer=attention or 'lr>1e-3'", text));
  const std::string comparison(text.substr(at, end - at));
  if (comparison != "=" && comparison != "!=" && comparison != "<" && comparison != "<=" && comparison != ">" &&
      comparison != ">=")
    throw Error(ErrorKind::usage, "filter",
                fmt::format("got '{}' in '{}', expected one of = != < <= > >=", comparison, text));
  RunFilter filter{parse_run_key(text.substr(0, at)), comparison, parse_value(text.substr(end))};
  // Names and ids that look like numbers ("123456789012") are still text.
  for (const char* column : {"id", "state", "reason", "task", "mixer"})
    if (filter.key.column == column) filter.value = std::string(text.substr(end));
  return filter;
}

std::string sql_condition(const std::vector<RunFilter>& filters) {
  std::string condition = "1";
  for (const RunFilter& filter : filters)
    condition += fmt::format(" AND {} {} ?", filter.key.column, filter.comparison);
  return condition;
}

void bind_condition(Statement& statement, const std::vector<RunFilter>& filters) {
  for (const RunFilter& filter : filters) {
    if (!filter.key.path.empty()) statement.bind(std::string_view(filter.key.path));
    if (const auto* number = std::get_if<double>(&filter.value))
      statement.bind(*number);
    else
      statement.bind(std::string_view(std::get<std::string>(filter.value)));
  }
}

}  // namespace mneme::store
