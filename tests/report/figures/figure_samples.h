// Made-up results for every kind of figure: what runs of a small study would leave.
#pragma once

#include <string>
#include <vector>

#include "report/figures/kinds.h"
#include "report/sample_rows.h"
#include "study/paper.h"

namespace mneme::testing {

struct FigureSample {
  std::string name;    // of its golden file
  std::string figure;  // TOML of [figure]
  std::vector<report::ResultRow> rows;
  std::string paper = "";  // TOML of [[paper]]
};

// One or two of each kind.
std::vector<FigureSample> figure_samples();

std::vector<report::ResultRow> extrapolation_rows();
std::vector<report::ResultRow> place_rows();
std::vector<report::ResultRow> matrix_rows();
std::vector<report::ResultRow> width_rows();
std::vector<report::ResultRow> dynamics_rows(bool all_rates = false);
std::vector<report::ResultRow> signal_rows();

// What the kind makes of the rows.
report::FigureReport build_sample(const FigureSample& sample);
// The values of [[paper]] tables.
std::vector<study::PaperValue> paper_values(const std::string& toml);

}  // namespace mneme::testing
