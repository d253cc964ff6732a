#include "report/rows.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "core/error.h"

namespace mneme {
namespace {

const Json* find(const Json& config, const char* pointer) {
  const Json::json_pointer path(pointer);
  return config.contains(path) ? &config.at(path) : nullptr;
}

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_finite(const std::optional<double>& value) { return value && std::isfinite(*value); }

// Differences that do not make another series: the learning rate is the axis, seeds are what is averaged.
bool is_axis(const std::string& pointer) { return pointer == "/train/lr" || pointer.find("seed") != std::string::npos; }

// "/model/width" -> "width".
std::string last_part(const std::string& pointer) { return pointer.substr(pointer.rfind('/') + 1); }

struct Phrase {
  const char* pointer;
  const char* text;
};

constexpr std::array kTaskPhrases{Phrase{"/task/length", "length {}"},   Phrase{"/task/pairs", "{} pairs"},
                                  Phrase{"/task/vocab", "{} tokens"},    Phrase{"/task/group", "group {}"},
                                  Phrase{"/task/pattern", "pattern {}"}, Phrase{"/task/blanks", "{} blanks"}};
constexpr std::array kModelPhrases{Phrase{"/model/layers", "{} layers"}, Phrase{"/model/width", "width {}"}};

// The value that all rows share, or nullptr.
const Json* common(std::span<const ResultRow> rows, const char* pointer) {
  const Json* first = nullptr;
  for (const ResultRow& row : rows) {
    const Json* value = find(row.config, pointer);
    if (value == nullptr || (first != nullptr && *value != *first)) return nullptr;
    first = value;
  }
  return first;
}

void add_phrases(std::string& line, std::span<const ResultRow> rows, std::span<const Phrase> phrases,
                 std::string_view opening) {
  std::string_view separator = opening;
  for (const Phrase& phrase : phrases) {
    const Json* value = common(rows, phrase.pointer);
    if (value == nullptr || value->is_null()) continue;
    std::string text = fmt::format(fmt::runtime(phrase.text), plain(*value));
    if (*value == 1 && text.back() == 's') text.pop_back();
    line += line.empty() ? text : fmt::format("{}{}", separator, text);
    separator = ", ";
  }
}

}  // namespace

bool is_result(const ResultRow& row) {
  return row.outcome == "done" || row.outcome == "diverged" || row.outcome == "failed";
}

double counted_validation_accuracy(const ResultRow& row) {
  return is_finite(row.validation_accuracy) ? *row.validation_accuracy : 0.0;
}

double counted_test_accuracy(const ResultRow& row) {
  return is_finite(row.test_accuracy) ? *row.test_accuracy : counted_validation_accuracy(row);
}

double learning_rate(const ResultRow& row) {
  const Json* value = find(row.config, "/train/lr");
  if (value == nullptr || !value->is_number() || !(value->get<double>() > 0) || std::isinf(value->get<double>()))
    throw Error(ErrorKind::data, fmt::format("run {}", row.run),
                fmt::format("train.lr of the stored config, got {}, expected a positive number",
                            value == nullptr ? "nothing" : plain(*value)));
  return value->get<double>();
}

std::string mixer_name(const ResultRow& row) {
  const Json* value = find(row.config, "/model/mixer");
  if (value != nullptr && value->is_object()) value = find(row.config, "/model/mixer/name");
  if (value == nullptr || !value->is_string())
    throw Error(ErrorKind::data, fmt::format("run {}", row.run),
                fmt::format("model.mixer of the stored config, got {}, expected a name",
                            value == nullptr ? "nothing" : plain(*value)));
  return value->get<std::string>();
}

std::string seed_text(const ResultRow& row) {
  const Json* value = find(row.config, "/train/seed");
  return value == nullptr || value->is_null() ? "" : plain(*value);
}

std::vector<std::string> series_labels(std::span<const ResultRow> rows) {
  // mixer -> config path -> the values it takes; a path that one run lacks counts as the value "".
  std::map<std::string, std::map<std::string, std::set<std::string>>> values;
  std::vector<std::map<std::string, std::string>> flat(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json flattened = rows[i].config.flatten();
    for (const auto& [pointer, value] : flattened.items())
      if (!is_axis(pointer)) flat[i][pointer] = plain(value);
    auto& seen = values[mixer_name(rows[i])];
    for (const auto& [pointer, text] : flat[i]) seen[pointer].insert(text);
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (auto& [pointer, seen] : values[mixer_name(rows[i])])
      if (!flat[i].contains(pointer)) seen.insert("");

  std::vector<std::string> labels;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string mixer = mixer_name(rows[i]);
    std::string label = mixer;
    for (const auto& [pointer, seen] : values[mixer])
      if (seen.size() > 1 && flat[i].contains(pointer))
        label += fmt::format(", {} {}", last_part(pointer), flat[i][pointer]);
    labels.push_back(std::move(label));
  }
  return labels;
}

std::string setup_line(std::span<const ResultRow> rows) {
  std::string line;
  if (const Json* name = rows.empty() ? nullptr : common(rows, "/task/name"); name != nullptr) {
    line = plain(*name);
    if (line == "mqar" || line == "ar")
      for (char& letter : line) letter = static_cast<char>(std::toupper(letter));
  }
  if (rows.empty()) return line;
  add_phrases(line, rows, kTaskPhrases, ", ");
  add_phrases(line, rows, kModelPhrases, "; ");
  return line;
}

}  // namespace mneme
