#include "report/claims/evidence.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "report/stats/generalisation.h"

namespace mneme::report {
namespace {

// Rates come from series rounded to six digits, or were written by hand.
constexpr double kSameNumber = 1e-5;

bool same(const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number()) return a == b;
  const double x = a.get<double>(), y = b.get<double>();
  return std::abs(x - y) <= kSameNumber * std::max(std::abs(x), std::abs(y));
}

// What a path into the summary's values leads to, as a number; nothing if it leads nowhere.
std::optional<double> number_at(const Json& values, std::string_view path) {
  const Json* here = &values;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto found = here->is_object() ? here->find(std::string(path.substr(0, dot))) : here->end();
    if (!here->is_object() || found == here->end()) return {};
    here = &*found;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  if (here->is_boolean()) return here->get<bool>() ? 1.0 : 0.0;
  if (here->is_number()) return here->get<double>();
  return {};
}

std::optional<Summary> summary_of(const std::vector<double>& values) {
  if (values.size() < Evidence::kSeeds) return {};
  return summarize(values, 0.9);
}

}  // namespace

Evidence::Evidence(std::span<const ResultRow> rows) {
  for (const ResultRow& row : rows)
    if (is_result(row)) rows_.push_back(&row);
}

Evidence Evidence::where(std::string_view path, const std::vector<Json>& values) const {
  Evidence some({});
  for (const ResultRow* row : rows_) {
    const Json* value = config_value(*row, path);
    if (value != nullptr &&
        std::any_of(values.begin(), values.end(), [&](const Json& one) { return same(*value, one); }))
      some.rows_.push_back(row);
  }
  return some;
}

std::vector<Json> Evidence::values(std::string_view path) const {
  std::set<Json> values;
  for (const ResultRow* row : rows_)
    if (const Json* value = config_value(*row, path)) values.insert(*value);
  return {values.begin(), values.end()};
}

std::vector<const ResultRow*> Evidence::chosen() const {
  if (rows_.empty()) return {};
  const std::vector<RatePoint> points = rate_points(rows_);
  const double rate = points[best_rate(points)].rate;
  std::vector<const ResultRow*> chosen;
  for (const ResultRow* row : rows_)
    if (learning_rate(*row) == rate) chosen.push_back(row);
  std::sort(chosen.begin(), chosen.end(), [](const ResultRow* a, const ResultRow* b) { return a->run < b->run; });
  return chosen;
}

std::optional<Summary> Evidence::accuracy() const {
  std::vector<double> values;
  for (const ResultRow* row : chosen()) values.push_back(counted_test_accuracy(*row));
  return summary_of(values);
}

std::optional<Summary> Evidence::metric(std::string_view path) const {
  std::vector<double> values;
  for (const ResultRow* row : chosen()) {
    const std::optional<double> value = number_at(row->values, path);
    if (!value && row->outcome == "done") return {};
    values.push_back(value.value_or(0.0));  // a run that diverged or failed was not tested
  }
  return summary_of(values);
}

std::optional<Summary> Evidence::beyond(double value, const std::string& metric) const {
  const auto all = generalisation_summary(chosen(), metric, 0.9);
  const auto found = all.find(value);
  if (found == all.end() || found->second.n < static_cast<int>(kSeeds)) return {};
  return found->second;
}

std::vector<double> Evidence::tested() const {
  std::vector<double> values;
  for (const auto& [value, summary] : generalisation_summary(chosen(), "accuracy", 0.9)) values.push_back(value);
  return values;
}

std::optional<double> Evidence::trained_up_to() const {
  if (rows_.empty()) return {};
  return report::trained_up_to(*rows_.front(), generalisation_axis(*rows_.front()));
}

std::optional<LrSeries> Evidence::rates() const {
  std::vector<ResultRow> rows;
  for (const ResultRow* row : rows_) rows.push_back(*row);
  if (rows.empty()) return {};
  const LrWindows windows = find_lr_windows(rows);
  if (windows.series.size() != 1) return {};
  for (const RatePoint& point : windows.series[0].points)
    if (point.seeds.size() < kSeeds) return {};
  return windows.series[0];
}

}  // namespace mneme::report
