// The results of a study as a claim reads them: picked by their configuration, and there at the chosen rate.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/stats/curves.h"
#include "report/stats/lr_window.h"
#include "report/stats/rows.h"

namespace mneme::report {

// One number per seed at the chosen rate, by seed.
struct Reading {
  std::vector<double> values;
  std::vector<Convergence> convergence;  // of the run that each comes from

  double mean() const;
};

class Evidence {
 public:
  // A claim about fewer seeds is not judged.
  static constexpr std::size_t kSeeds = 3;

  // The rows must outlive this and everything made from it. Rows that have not ended represent planned runs:
  // a selection with such rows gives nothing, and is_missing() says why.
  explicit Evidence(std::span<const ResultRow> rows);

  // Those whose configuration has one of these values at the path; numbers are compared to six digits.
  Evidence where(std::string_view path, const std::vector<Json>& values) const;
  Evidence where(std::string_view path, const Json& value) const { return where(path, std::vector<Json>{value}); }
  Evidence mixer(std::string_view name) const { return where("model.mixer", std::string(name)); }
  // The same, with the rate chosen on extrapolation, as paper B does (A.4): the best mean over seeds of the accuracies
  // beyond training, or of the phase tests that were passed; validation accuracy decides among equals.
  Evidence by_extrapolation() const;

  bool empty() const { return rows_.empty() && planned_.empty(); }
  // The different values at a path, ascending, planned runs included.
  std::vector<Json> values(std::string_view path) const;

  // At the chosen rate. Nothing if runs are missing, if fewer than kSeeds seeds ended there, or if a run that is done
  // does not say.
  std::optional<Reading> accuracy() const;
  // A number or a truth value in the summary: "phases.two_isi".
  std::optional<Reading> metric(std::string_view path) const;
  // At a value of the generalisation axis: "accuracy" or "exact_match".
  std::optional<Reading> beyond(double value, const std::string& metric = "accuracy") const;
  // Steps until validation accuracy was first at `level`; the budget's steps if it never was.
  std::optional<Reading> steps_until(double level) const;
  // The values of the axis that were tested, ascending, and the largest one in training.
  std::vector<double> tested() const;
  std::optional<double> trained_up_to() const;

  // All rates after this share of the budget; nothing if runs are missing or a rate has fewer than kSeeds seeds.
  std::optional<study::SeedGrid> grid(double share = 1) const;
  bool has_curves() const;

  // The runs at the chosen rate, by id.
  std::vector<const ResultRow*> chosen() const;

  // True if something was read that has planned runs without a result; all that was read, ended or not.
  bool is_missing() const { return state_->missing; }
  const std::set<const ResultRow*>& read() const { return state_->read; }

 private:
  struct State {
    bool missing = false;
    std::set<const ResultRow*> read;
  };

  Evidence() : state_(std::make_shared<State>()) {}
  // True if the rows may be read; remembers that they were.
  bool take() const;
  std::optional<Reading> reading(const std::function<std::optional<double>(const ResultRow&)>& value) const;

  std::vector<const ResultRow*> rows_, planned_;
  bool by_extrapolation_ = false;
  std::shared_ptr<State> state_;
};

}  // namespace mneme::report
