#include "report/stats/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "core/error.h"
#include "core/text.h"

namespace mneme::report {
namespace {

const Json* find(const Json& config, const char* pointer) {
  const Json::json_pointer path(pointer);
  return config.contains(path) ? &config.at(path) : nullptr;
}

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A value as a label shows it: a text that is empty (no convolution) would look like a field without one.
std::string named(const std::string& text) { return text.empty() ? "none" : text; }

// A finite number of a run's values, or nothing.
std::optional<double> number(const Json& values, const char* pointer) {
  const Json* value = find(values, pointer);
  if (value == nullptr || !value->is_number() || !std::isfinite(value->get<double>())) return {};
  return value->get<double>();
}

bool is_finite(const std::optional<double>& value) { return value && std::isfinite(*value); }

// Differences that do not make another series: the learning rate is the axis, seeds are what is averaged.
bool is_axis(const std::string& pointer) { return pointer == "/train/lr" || pointer.find("seed") != std::string::npos; }

std::string pointer_of(std::string_view path) {
  std::string pointer = "/" + std::string(path);
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return pointer;
}

// True for the field itself and, if it is a list or a table, for what is in it.
bool is_within(const std::string& pointer, const std::string& field) {
  return pointer.starts_with(field) && (pointer.size() == field.size() || pointer[field.size()] == '/');
}

// "/model/width" -> "width".
std::string last_part(const std::string& pointer) { return pointer.substr(pointer.rfind('/') + 1); }

struct Phrase {
  const char* pointer;
  const char* text;
};

constexpr std::array kTaskPhrases{Phrase{"/task/length", "length {}"},    Phrase{"/task/pairs", "{} pairs"},
                                  Phrase{"/task/vocab", "vocabulary {}"}, Phrase{"/task/group", "group {}"},
                                  Phrase{"/task/pattern", "pattern {}"},  Phrase{"/task/blanks", "{} blanks"}};
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

// "{} layers" with its value; one of a thing is singular.
std::string phrase_text(const char* phrase, const Json& value) {
  std::string shown = named(plain(value));
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const Json& part : value) parts.push_back(plain(part));
    shown = join(parts, "/");
  }
  std::string text = fmt::format(fmt::runtime(phrase), shown);
  if (value == 1 && text.back() == 's') text.pop_back();
  return text;
}

void add_phrases(std::string& line, std::span<const ResultRow> rows, std::span<const Phrase> phrases,
                 std::string_view opening) {
  std::string_view separator = opening;
  for (const Phrase& phrase : phrases) {
    const Json* value = common(rows, phrase.pointer);
    if (value == nullptr || value->is_null()) continue;
    const std::string text = phrase_text(phrase.text, *value);
    line += line.empty() ? text : fmt::format("{}{}", separator, text);
    separator = ", ";
  }
}

using FlatConfig = std::map<std::string, std::string>;

bool is_known(const std::string& pointer) {
  const auto is = [&](const Phrase& phrase) { return pointer == phrase.pointer; };
  return std::any_of(kTaskPhrases.begin(), kTaskPhrases.end(), is) ||
         std::any_of(kModelPhrases.begin(), kModelPhrases.end(), is);
}

// Takes the fields of a run that may tell it from another: not the rate, seeds and what is set apart.
template <class Take>
void each_field(const ResultRow& row, const std::vector<std::string>& set_apart, const Take& take) {
  const Json flattened = row.config.flatten();
  for (const auto& [pointer, value] : flattened.items())
    if (!is_axis(pointer) && std::none_of(set_apart.begin(), set_apart.end(),
                                          [&, &at = pointer](const auto& field) { return is_within(at, field); }))
      take(pointer, value);
}

// The fields that differ among runs of one group, by mixer. A field that a run lacks counts as the value "".
std::map<std::string, std::set<std::string>> varying_fields(std::span<const ResultRow> rows,
                                                            const std::vector<std::vector<std::string>>& groups,
                                                            const std::vector<std::string>& set_apart) {
  struct Field {
    std::size_t runs = 0;  // that have it
    std::set<std::string> values;
  };
  struct Kind {
    std::size_t runs = 0;
    std::map<std::string, Field> fields;
  };
  std::map<std::vector<std::string>, Kind> kinds;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Kind& kind = kinds[groups[i]];
    ++kind.runs;
    each_field(rows[i], set_apart, [&](const std::string& pointer, const Json& value) {
      Field& field = kind.fields[pointer];
      ++field.runs;
      field.values.insert(plain(value));
    });
  }
  std::map<std::string, std::set<std::string>> varying;
  for (auto& [group, kind] : kinds)
    for (auto& [pointer, field] : kind.fields) {
      if (field.runs < kind.runs) field.values.insert("");
      if (field.values.size() > 1) varying[group.front()].insert(pointer);
    }
  return varying;
}

// Of the fields that vary among a mixer's runs, enough to tell the runs apart: not those that follow from others
// (embed_width from width). Fields that people speak of are taken first.
std::set<std::string> telling(const std::set<std::string>& varying, const std::string& mixer,
                              const std::vector<std::vector<std::string>>& groups,
                              const std::vector<FlatConfig>& flat) {
  std::vector<std::string> candidates(varying.begin(), varying.end());
  std::stable_partition(candidates.begin(), candidates.end(), is_known);
  std::map<std::size_t, std::vector<std::string>> kinds;  // row -> what is known to differ
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (groups[i].front() == mixer) kinds[i] = groups[i];
  const auto count = [](const auto& of) {
    std::set<std::vector<std::string>> distinct;
    for (const auto& [row, kind] : of) distinct.insert(kind);
    return distinct.size();
  };
  std::set<std::string> chosen;
  for (const std::string& pointer : candidates) {
    auto finer = kinds;
    for (auto& [row, kind] : finer) {
      const auto found = flat[row].find(pointer);
      kind.push_back(found == flat[row].end() ? "" : found->second);
    }
    if (count(finer) == count(kinds)) continue;
    kinds = std::move(finer);
    chosen.insert(pointer);
  }
  return chosen;
}

}  // namespace

void add_run_facts(ResultRow& row, const config::RunConfig& run) {
  row.tokens_per_step = run.train.integer("batch") * run.shape.length;
  // A signal is on or off at each step; its squared error at one half is a quarter.
  row.initial_loss = !run.shape.is_signal()                   ? std::log(static_cast<double>(run.shape.classes))
                     : run.train.text("signal_loss") == "bce" ? std::log(2.0)
                                                              : 0.25;
}

bool is_result(const ResultRow& row) {
  return row.outcome == "done" || row.outcome == "diverged" || row.outcome == "failed";
}

double counted_validation_accuracy(const ResultRow& row) {
  return is_finite(row.validation_accuracy) ? *row.validation_accuracy : 0.0;
}

double counted_test_accuracy(const ResultRow& row) {
  return is_finite(row.test_accuracy) ? *row.test_accuracy : counted_validation_accuracy(row);
}

bool judged_by_sequence(const ResultRow& row) {
  const Json* score = find(row.config, "/train/stop_on");
  return score != nullptr && *score == "exact_match";
}

double score_of(const ResultRow& row, const MetricPoint& point) {
  return judged_by_sequence(row) ? point.exact_match : point.accuracy;
}

double validation_score(const ResultRow& row) {
  if (!judged_by_sequence(row)) return counted_validation_accuracy(row);
  for (auto point = row.metrics.rbegin(); point != row.metrics.rend(); ++point)
    if (std::isfinite(point->exact_match)) return point->exact_match;
  const auto said = number(row.values, "/validation/exact_match");
  return said ? *said : 0.0;
}

double test_score(const ResultRow& row) {
  if (!judged_by_sequence(row)) return counted_test_accuracy(row);
  const auto said = number(row.values, "/test/exact_match");
  return said ? *said : validation_score(row);
}

std::string score_name(std::span<const ResultRow> rows) {
  return !rows.empty() && std::all_of(rows.begin(), rows.end(), judged_by_sequence) ? "whole sequences right"
                                                                                    : "accuracy";
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

const Json* config_value(const ResultRow& row, std::string_view path) {
  return find(row.config, pointer_of(path).c_str());
}

std::string field_text(std::string_view path, const Json& value) {
  const std::string pointer = pointer_of(path);
  for (const auto& phrases : {std::span<const Phrase>(kTaskPhrases), std::span<const Phrase>(kModelPhrases)})
    for (const Phrase& phrase : phrases)
      if (pointer == phrase.pointer) return phrase_text(phrase.text, value);
  if (pointer == "/task/name" || pointer == "/model/mixer") return plain(value);
  return fmt::format("{} {}", last_part(pointer), named(plain(value)));
}

std::vector<std::string> series_labels(std::span<const ResultRow> rows, const std::vector<std::string>& apart_from) {
  std::vector<std::string> set_apart;
  for (const std::string& path : apart_from) set_apart.push_back(pointer_of(path));
  std::vector<std::vector<std::string>> groups;
  for (const ResultRow& row : rows) {
    std::vector<std::string> group{mixer_name(row)};
    for (const std::string& pointer : set_apart) {
      const Json* value = find(row.config, pointer.c_str());
      group.push_back(value == nullptr ? "" : plain(*value));
    }
    groups.push_back(std::move(group));
  }
  std::map<std::string, std::set<std::string>> varying = varying_fields(rows, groups, set_apart);
  // Only what varies is kept of each run: whole configurations of many thousands would take more than the rows do.
  std::vector<FlatConfig> flat(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto found = varying.find(groups[i].front());
    if (found == varying.end()) continue;
    each_field(rows[i], set_apart, [&](const std::string& pointer, const Json& value) {
      if (found->second.contains(pointer)) flat[i][pointer] = plain(value);
    });
  }
  for (auto& [mixer, pointers] : varying) pointers = telling(pointers, mixer, groups, flat);
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string label = groups[i].front();
    for (const std::string& pointer : varying[groups[i].front()])
      if (flat[i].contains(pointer)) label += fmt::format(", {} {}", last_part(pointer), named(flat[i][pointer]));
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

}  // namespace mneme::report
