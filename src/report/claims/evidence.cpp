#include "report/claims/evidence.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

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

// Of a run that diverged or failed nothing was tested: 0.
double extrapolation_score(const ResultRow& row) {
  double sum = 0, count = 0;
  for (const char* test : {"phases.two_isi", "phases.double_isi"})
    if (const auto passed = number_at(row.values, test)) sum += *passed, count += 1;
  if (count == 0)
    if (const auto trained = trained_up_to(row, generalisation_axis(row)))
      for (const auto& [value, accuracy] : generalisation_points(row, "accuracy"))
        if (value > *trained) sum += accuracy, count += 1;
  return count == 0 ? 0 : sum / count;
}

}  // namespace

double Reading::mean() const {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

Evidence::Evidence(std::span<const ResultRow> rows) : Evidence() {
  for (const ResultRow& row : rows) (is_result(row) ? rows_ : planned_).push_back(&row);
}

Evidence Evidence::where(std::string_view path, const std::vector<Json>& values) const {
  Evidence some;
  some.state_ = state_;
  some.by_extrapolation_ = by_extrapolation_;
  const auto fits = [&](const ResultRow* row) {
    const Json* value = config_value(*row, path);
    return value != nullptr &&
           std::any_of(values.begin(), values.end(), [&](const Json& one) { return same(*value, one); });
  };
  std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(some.rows_), fits);
  std::copy_if(planned_.begin(), planned_.end(), std::back_inserter(some.planned_), fits);
  return some;
}

Evidence Evidence::by_extrapolation() const {
  Evidence all = *this;
  all.by_extrapolation_ = true;
  return all;
}

std::vector<Json> Evidence::values(std::string_view path) const {
  std::set<Json> values;
  for (const auto* some : {&rows_, &planned_})
    for (const ResultRow* row : *some)
      if (const Json* value = config_value(*row, path)) values.insert(*value);
  return {values.begin(), values.end()};
}

bool Evidence::take() const {
  state_->read.insert(rows_.begin(), rows_.end());
  state_->read.insert(planned_.begin(), planned_.end());
  state_->missing |= !planned_.empty();
  return planned_.empty() && !rows_.empty();
}

std::vector<const ResultRow*> Evidence::chosen() const {
  if (rows_.empty()) return {};
  std::map<double, std::vector<const ResultRow*>> rates;
  for (const ResultRow* row : rows_) rates[learning_rate(*row)].push_back(row);
  const std::vector<const ResultRow*>* best = nullptr;
  std::tuple<double, double> most;
  for (const auto& [rate, rows] : rates) {
    std::vector<double> validation, beyond;
    for (const ResultRow* row : rows) {
      validation.push_back(validation_score(*row));
      beyond.push_back(by_extrapolation_ ? extrapolation_score(*row) : 0.0);
    }
    const std::tuple<double, double> score{summarize(beyond, 0).mean, summarize(validation, 0).mean};
    if (best == nullptr || score > most) std::tie(best, most) = std::pair(&rows, score);
  }
  std::vector<const ResultRow*> chosen = *best;
  std::sort(chosen.begin(), chosen.end(), [](const ResultRow* a, const ResultRow* b) { return a->run < b->run; });
  return chosen;
}

std::optional<Reading> Evidence::reading(const std::function<std::optional<double>(const ResultRow&)>& value) const {
  if (!take()) return {};
  std::map<std::pair<std::string, std::string>, const ResultRow*> by_seed;
  for (const ResultRow* row : chosen()) by_seed[{seed_text(*row), row->run}] = row;
  Reading reading;
  for (const auto& [seed, row] : by_seed) {
    const std::optional<double> number = value(*row);
    if (!number && row->outcome == "done") return {};
    reading.values.push_back(number.value_or(0.0));  // a run that diverged or failed was not tested
    reading.convergence.push_back(convergence_of(*row));
  }
  if (reading.values.size() < kSeeds) return {};
  return reading;
}

std::optional<Reading> Evidence::accuracy() const { return reading(test_score); }

std::optional<Reading> Evidence::metric(std::string_view path) const {
  return reading([&](const ResultRow& row) { return number_at(row.values, path); });
}

std::optional<Reading> Evidence::beyond(double value, const std::string& metric) const {
  return reading([&](const ResultRow& row) -> std::optional<double> {
    const auto points = generalisation_points(row, metric);
    const auto found = points.find(value);
    return found == points.end() ? std::nullopt : std::optional(found->second);
  });
}

std::optional<Reading> Evidence::steps_until(double level) const {
  if (!take() || !has_curves()) return {};
  return reading([&](const ResultRow& row) -> std::optional<double> {
    for (const MetricPoint& point : row.metrics)
      if (std::isfinite(score_of(row, point)) && score_of(row, point) >= level) return static_cast<double>(point.step);
    return static_cast<double>(budget_steps(row));
  });
}

std::vector<double> Evidence::tested() const {
  if (!take()) return {};
  std::set<double> values;
  for (const ResultRow* row : rows_)
    for (const auto& [value, accuracy] : generalisation_points(*row, "accuracy")) values.insert(value);
  return {values.begin(), values.end()};
}

std::optional<double> Evidence::trained_up_to() const {
  if (!take()) return {};
  return report::trained_up_to(*rows_.front(), generalisation_axis(*rows_.front()));
}

bool Evidence::has_curves() const {
  return !rows_.empty() &&
         std::all_of(rows_.begin(), rows_.end(), [](const ResultRow* row) { return has_curve(*row); });
}

std::optional<study::SeedGrid> Evidence::grid(double share) const {
  if (!take() || (share < 1 && !has_curves())) return {};
  study::SeedGrid grid = seed_grid(
      rows_, [share](const ResultRow& row) { return share < 1 ? score_by(row, share) : validation_score(row); });
  for (const std::vector<double>& seeds : grid.accuracy)
    if (std::count_if(seeds.begin(), seeds.end(), [](double value) { return !std::isnan(value); }) <
        static_cast<std::ptrdiff_t>(kSeeds))
      return {};
  return grid;
}

}  // namespace mneme::report
