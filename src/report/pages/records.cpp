#include "report/pages/records.h"

#include <cmath>
#include <optional>
#include <set>

namespace mneme::report {
namespace {

void add_interval(Record& record, const std::string& name, const Summary& summary,
                  const std::optional<Interval>& interval) {
  record[name + "_mean"] = summary.mean;
  record[name + "_standard_error"] = std::isnan(summary.standard_error) ? Record() : Record(summary.standard_error);
  record[name + "_ci95_low"] = interval ? Record(interval->low) : Record();
  record[name + "_ci95_high"] = interval ? Record(interval->high) : Record();
  record[name + "_median"] = summary.median;
  record[name + "_min"] = summary.min;
  record[name + "_max"] = summary.max;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + '"';
}

std::string cell(const Record& value) {
  if (value.is_null()) return "";
  return quoted(value.is_string() ? value.get<std::string>() : value.dump());
}

}  // namespace

void add_summary(Record& record, const std::string& name, const Summary& summary) {
  add_interval(record, name, summary, confidence_interval(summary));
}

void add_score(Record& record, const std::string& name, const Summary& summary) {
  add_interval(record, name, summary, share_interval(summary));
}

std::string to_csv(const Records& records, const std::vector<std::string>& first) {
  std::vector<std::string> columns = first;
  std::set<std::string> known(first.begin(), first.end());
  for (const Record& record : records)
    for (const auto& [column, value] : record.items())
      if (known.insert(column).second) columns.push_back(column);
  if (columns.empty()) return "";
  std::string csv;
  for (const std::string& column : columns) csv += (csv.empty() ? "" : ",") + quoted(column);
  csv += "\r\n";
  for (const Record& record : records) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) csv += ',';
      if (const auto found = record.find(columns[i]); found != record.end()) csv += cell(*found);
    }
    csv += "\r\n";
  }
  return csv;
}

}  // namespace mneme::report
