// The last steps of a run by group of parameters, and which group was the first to leave its band.
//
// The trainer adds a step at a time and keeps the last kTraceSteps; a run's directory has them in autopsy.safetensors
// (docs/run-directory.md). A group is one parameter of the model under its name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/safetensors.h"

namespace mneme {

inline constexpr std::size_t kTraceSteps = 64;

struct TraceStep {
  std::int64_t step = 0;
  float loss = 0;                               // of the step's batch
  float largest_logit = 0;                      // the largest output of the batch; of a signal in absolute value
  float smallest_decay = 0, largest_decay = 0;  // of all mixers, a step's factor; NaN if no mixer has one
  std::vector<float> gradient_norm;             // of each group, before clipping
  std::vector<float> update_ratio;              // |dw| / |w| of each group
};

struct TrainingTrace {
  std::vector<std::string> groups;
  std::vector<TraceStep> steps;  // oldest first

  void add(TraceStep step);  // forgets the oldest beyond kTraceSteps

  // As tensors: step [S] I64; loss, largest_logit, smallest_decay, largest_decay [S]; gradient_norm, update_ratio
  // [S, G]. `memory` holds what the views show.
  std::map<std::string, TensorView> tensors(std::vector<std::vector<std::byte>>& memory) const;
  // From such tensors, whose names begin with `prefix`; throws Error(data) naming `where` if they do not fit.
  static TrainingTrace from_tensors(const std::map<std::string, TensorView>& tensors, const std::string& prefix,
                                    std::vector<std::string> groups, std::string_view where);
};

void save_autopsy(const Path& path, const TrainingTrace& trace, const std::string& run, const Commit& commit = {});
// Throws Error(data) if the file is damaged, Error(io) if there is none.
TrainingTrace load_autopsy(const Path& path);

// A quantity that left its band: low to high, reckoned from the older half of the trace.
struct Departure {
  std::string group;     // "" for what is of the whole model
  std::string quantity;  // gradient_norm, update_ratio, loss, largest_logit, smallest_decay, largest_decay
  std::int64_t step = 0;
  double value = 0;  // may be NaN or infinite
  double low = 0, high = 0;
  double excess = 0;  // how far outside, in half-widths of the band; infinite if not finite
};

// The band of a quantity has its median over the older half of the steps in the middle and reaches, in logarithms, six
// median deviations to each side, at least a factor of 4. Above it is outside; for the largest decay, whose distance
// from 1 is what counts, below. A value that is not finite is outside. Needs four steps, and three of them above zero.
//
// The first departure of each quantity, earliest first; at the same step what is of the whole model and not finite
// last, then by excess, then in the order of the groups.
std::vector<Departure> departures(const TrainingTrace& trace);

// "layers.0.mixer.A_log left its band first, at step 412: gradient norm 31, expected 0.02 to 0.4". Where what is of the
// whole model was earlier, also which group was the first; or that nothing left its band, or that there are too few
// steps to say.
std::string autopsy_sentence(const TrainingTrace& trace);

// All of it: {"steps": [S], "sentence", "departures": [{"group", "quantity", "step", "value", "low", "high"}, ...],
// "groups": [{"name", "gradient_norm": [S], "update_ratio": [S]}, ...], "model": {"loss": [S], "largest_logit": [S],
// "smallest_decay": [S], "largest_decay": [S]}}. What is not finite is null.
Json autopsy_json(const TrainingTrace& trace);

}  // namespace mneme
