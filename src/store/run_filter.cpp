#include "store/run_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "store/run_directory.h"

namespace mneme::store {
namespace {

const std::map<std::string, std::string, std::less<>>& columns() {
  static const std::map<std::string, std::string, std::less<>> map = {
      {"id", "id"},           {"state", "state"},        {"outcome", "state"},
      {"reason", "reason"},   {"task", "task"},          {"mixer", "mixer"},
      {"width", "width"},     {"layers", "layers"},      {"lr", "lr"},
      {"seed", "seed"},       {"test", "test_accuracy"}, {"steps", "steps"},
      {"seconds", "seconds"}, {"changed", "changed"},    {"validation", "validation_accuracy"},
      {"tag", "tags"},        {"note", "note"},
  };
  return map;
}

bool is_config_path(std::string_view name) {
  for (const std::string_view section : {"task.", "model.", "train.", "test."})
    if (name.starts_with(section) && name.size() > section.size())
      return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == name.npos;
  return false;
}

constexpr const char* kTextColumns[] = {"id", "state", "reason", "task", "mixer", "tags", "note"};

bool holds_text(const RunKey& key) {
  return std::find(std::begin(kTextColumns), std::end(kTextColumns), key.column) != std::end(kTextColumns);
}

// A run has the tag among others, the note contains the text, the id begins with the digits.
bool searches(const RunKey& key) { return key.column == "tags" || key.column == "note" || key.column == "id"; }

const char* search_condition(const RunKey& key) {
  if (key.column == "tags") return "instr(tags, ',' || ? || ',') > 0";
  return key.column == "id" ? "instr(id, ?) = 1" : "instr(lower(note), lower(?)) > 0";
}

bool is_accuracy(const RunKey& key) { return key.column == "validation_accuracy" || key.column == "test_accuracy"; }

std::variant<double, std::string> parse_value(std::string_view text) {
  // SQLite reads JSON's true and false as 1 and 0.
  if (text == "true") return 1.0;
  if (text == "false") return 0.0;
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc() && end == text.data() + text.size()) return number;
  return std::string(text);
}

std::string checked_state(std::string_view text) {
  std::vector<std::string> known;
  for (const RunState state : {RunState::fresh, RunState::running, RunState::interrupted, RunState::done,
                               RunState::diverged, RunState::failed, RunState::cancelled})
    known.emplace_back(run_state_name(state));
  if (std::find(known.begin(), known.end(), text) == known.end())
    throw Error(ErrorKind::usage, "filter", fmt::format("unknown state '{}'{}", text, suggestion(text, known)));
  return std::string(text);
}

double checked_accuracy(std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto value = parse_value(percent ? text.substr(0, text.size() - 1) : text);
  const auto* number = std::get_if<double>(&value);
  const double share = number ? (percent ? *number / 100 : *number) : -1;
  if (!(share >= 0 && share <= 1))
    throw Error(ErrorKind::usage, "filter",
                fmt::format("got '{}', expected an accuracy from 0 to 1, or a percentage like 90%", text));
  return share;
}

std::string checked_digits(std::string_view text) {
  constexpr std::size_t kDigits = 12;
  if (text.size() > kDigits || text.find_first_not_of("0123456789abcdef") != text.npos)
    throw Error(ErrorKind::usage, "filter",
                fmt::format("id: got '{}', expected the first of a run's {} digits 0-9 and a-f", text, kDigits));
  return std::string(text);
}

std::variant<double, std::string> checked_value(const RunKey& key, std::string_view text) {
  if (key.column == "state") return checked_state(text);
  if (key.column == "id") return checked_digits(text);
  // Names and ids that look like numbers ("123456789012") are still text.
  if (holds_text(key)) return std::string(text);
  if (is_accuracy(key)) return checked_accuracy(text);
  auto value = parse_value(text);
  if (key.path.empty() && !std::holds_alternative<double>(value))
    throw Error(ErrorKind::usage, "filter", fmt::format("{}: got '{}', expected a number", key.name, text));
  return value;
}

}  // namespace

RunKey parse_run_key(std::string_view name) {
  if (const auto found = columns().find(name); found != columns().end()) return {found->second, "", std::string(name)};
  if (is_config_path(name)) return {"json_extract(config, ?)", fmt::format("$.{}", name), std::string(name)};
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
  RunFilter filter{parse_run_key(text.substr(0, at)), comparison, {}};
  const std::string_view value = text.substr(end);
  if (searches(filter.key) && comparison != "=" && comparison != "!=")
    throw Error(ErrorKind::usage, "filter", fmt::format("got '{}' in '{}', expected = or !=", comparison, text));
  // A reason and a note are sentences, which may have commas.
  if (filter.key.column == "reason" || filter.key.column == "note") {
    filter.values.emplace_back(std::string(value));
    return filter;
  }
  for (const std::string& one : split(value, ',')) filter.values.push_back(checked_value(filter.key, one));
  if (filter.values.size() > 1 && comparison != "=" && comparison != "!=")
    throw Error(ErrorKind::usage, "filter",
                fmt::format("got a list in '{}', expected one value: lists go with = and !=", text));
  return filter;
}

namespace {

std::string repeated(std::string_view text, std::size_t count) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

}  // namespace

std::string sql_condition(const std::vector<RunFilter>& filters) {
  std::string condition = "1";
  for (const RunFilter& filter : filters)
    if (searches(filter.key)) {
      const std::string one = search_condition(filter.key);
      condition += fmt::format(" AND {}({}{})", filter.comparison == "=" ? "" : "NOT ", one,
                               repeated(" OR " + one, filter.values.size() - 1));
    } else if (filter.values.size() == 1) {
      condition += fmt::format(" AND {} {} ?", filter.key.column, filter.comparison);
    } else {
      condition += fmt::format(" AND {} {} (?{})", filter.key.column, filter.comparison == "=" ? "IN" : "NOT IN",
                               repeated(",?", filter.values.size() - 1));
    }
  return condition;
}

void bind_condition(Statement& statement, const std::vector<RunFilter>& filters) {
  for (const RunFilter& filter : filters) {
    if (!filter.key.path.empty()) statement.bind(std::string_view(filter.key.path));
    for (const auto& value : filter.values) {
      if (const auto* number = std::get_if<double>(&value))
        statement.bind(*number);
      else
        statement.bind(std::string_view(std::get<std::string>(value)));
    }
  }
}

}  // namespace mneme::store
