// The results of a study as a claim reads them: picked by their configuration, and there at the rate that was chosen
// on validation.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/stats/lr_window.h"
#include "report/stats/rows.h"
#include "report/stats/statistics.h"

namespace mneme::report {

class Evidence {
 public:
  // A claim about fewer seeds is not judged.
  static constexpr std::size_t kSeeds = 3;

  // The rows must outlive this and everything made from it. Runs that have not ended are left out.
  explicit Evidence(std::span<const ResultRow> rows);

  // Those whose configuration has one of these values at the path; numbers are compared to six digits.
  Evidence where(std::string_view path, const std::vector<Json>& values) const;
  Evidence where(std::string_view path, const Json& value) const { return where(path, std::vector<Json>{value}); }
  Evidence mixer(std::string_view name) const { return where("model.mixer", std::string(name)); }

  bool empty() const { return rows_.empty(); }
  // The different values at a path, ascending.
  std::vector<Json> values(std::string_view path) const;

  // At the chosen rate. Nothing if fewer than kSeeds seeds ended there, or if a run that is done does not say.
  std::optional<Summary> accuracy() const;
  // A number or a truth value in the summary: "phases.two_isi".
  std::optional<Summary> metric(std::string_view path) const;
  // At a value of the generalisation axis: "accuracy" or "exact_match".
  std::optional<Summary> beyond(double value, const std::string& metric = "accuracy") const;
  // The values of the axis that were tested, ascending, and the largest one in training.
  std::vector<double> tested() const;
  std::optional<double> trained_up_to() const;

  // All rates; nothing if one of them has fewer than kSeeds seeds. The series' own window may be none.
  std::optional<LrSeries> rates() const;

  // The runs at the chosen rate, by id.
  std::vector<const ResultRow*> chosen() const;

 private:
  std::vector<const ResultRow*> rows_;
};

}  // namespace mneme::report
