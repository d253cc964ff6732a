// Rows as a learning-rate sweep leaves them, for tests of reports.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "report/stats/rows.h"

namespace mneme::testing {

inline report::ResultRow sample_row(const std::string& mixer, double rate, int seed, double accuracy,
                                    const std::string& outcome = "done") {
  report::ResultRow row;
  row.run = mixer + "-" + std::to_string(rate) + "-" + std::to_string(seed);
  row.config = {{"task", {{"name", "mqar"}, {"length", 32}, {"pairs", 4}, {"vocab", 64}}},
                {"model", {{"mixer", mixer}, {"layers", 2}, {"width", 64}}},
                {"train", {{"lr", rate}, {"seed", seed}, {"data_seed", 1000 + seed}}}};
  row.outcome = outcome;
  row.validation_accuracy = accuracy;
  if (outcome == "done") row.test_accuracy = accuracy;
  row.steps = 1000;
  row.seconds = 12.5;
  return row;
}

// Accuracy rises from 5 % to 99 % around `lo` and falls back around `hi`; seeds differ most at the edges.
inline double bell(double rate, double lo, double hi, int seed) {
  const double shift = 0.12 * (seed % 3 - 1);
  const auto step = [](double x) { return 1 / (1 + std::exp(-16 * x)); };
  return 0.05 + 0.94 * step(std::log10(rate / lo) + shift) * step(std::log10(hi / rate) + shift);
}

struct SampleMixer {
  std::string name;
  double lo;
  double hi;
  double diverges_from;
};

inline std::vector<report::ResultRow> sample_sweep(const std::vector<SampleMixer>& mixers,
                                                   const std::vector<double>& rates, const std::vector<int>& seeds) {
  std::vector<report::ResultRow> rows;
  for (const SampleMixer& mixer : mixers)
    for (const double rate : rates)
      for (const int seed : seeds)
        rows.push_back(sample_row(mixer.name, rate, seed, bell(rate, mixer.lo, mixer.hi, seed),
                                  rate >= mixer.diverges_from ? "diverged" : "done"));
  return rows;
}

inline const std::vector<double> kSevenRates{1e-4, 3.1622776601683795e-4, 1e-3, 3.1622776601683795e-3,
                                             1e-2, 3.1622776601683795e-2, 1e-1};

inline std::vector<report::ResultRow> three_mixers() {
  return sample_sweep({{"attention", 1.6e-4, 5e-2, 0.09}, {"hyena", 6e-4, 1.6e-2, 1}, {"mamba", 6e-4, 2e-3, 0.02}},
                      kSevenRates, {42, 123, 778});
}

inline std::vector<report::ResultRow> demo_like() {
  return sample_sweep({{"attention", 1.8e-4, 2e-3, 1}}, {1e-4, 3e-4, 1e-3, 3e-3, 1e-2}, {1, 2});
}

}  // namespace mneme::testing
