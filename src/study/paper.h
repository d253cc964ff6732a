// What the paper itself reports, written in the study file next to the runs that repeat it:
//
//   [[paper]]
//   model.mixer = "mamba"     # conditions, as in [[exclude]]: the runs that it is about
//   value = 0.99              # the paper's accuracy, a fraction
//   passes = true             # the paper's verdict
//   says = "narrow window"    # its words, where it gives no number
//   at = 16                   # only at this value of the generalisation axis
//   metric = "phases.two_isi" # only of this metric
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/conditions.h"

namespace mneme::study {

struct PaperValue {
  Conditions conditions;
  std::optional<double> value;
  std::optional<bool> passes;
  std::string says;
  std::optional<double> at;
  std::string metric;  // "": any

  // "99.0", "✓", "✗" or its words, as a table shows it next to ours.
  std::string shown() const;
};

// Throws Error(usage) if the table says nothing, or about no run.
PaperValue parse_paper_value(const ConfigValue& table);

// The first entry about this run, this value of the axis and this metric; nullptr if the paper does not say.
const PaperValue* find_paper_value(std::span<const PaperValue> values, const Json& config,
                                   std::optional<double> at = {}, std::string_view metric = "");

}  // namespace mneme::study
