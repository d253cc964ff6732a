// What `mneme evaluate` asks of a trained model: its task with other options, at one point or along an axis.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"

namespace mneme::config {

// How a model is read: whole sequences at once, or token by token, with memory that does not grow with the sequence.
enum class Reading { whole, stepwise };
// `automatic`: whole sequences while they are short, token by token beyond where that costs constant memory.
enum class ReadingChoice { automatic, whole, stepwise };
ReadingChoice parse_reading(std::string_view name);  // "auto", "forward", "step"; throws Error(usage)

struct EvaluationRequest {
  Json task = Json::object();        // options of the task that are not as in training
  std::string along;                 // an option of the task that takes integers; "": none
  std::vector<std::int64_t> values;  // none: the values that the task's axis has for tests
  std::int64_t examples = 0;         // at each point; 0: 1,000, but fewer where sequences are long
  ReadingChoice reading = ReadingChoice::automatic;
};

struct EvaluationPoint {
  std::optional<std::int64_t> value;  // on the axis; nothing without one
  RunConfig run;                      // as it is tested here: task, shape and the number of sequences at a time
  Reading reading = Reading::whole;
  std::int64_t examples = 0;
  std::vector<std::string> notes;  // what a model does here that it did not in training
};

// Throws Error(usage) for options and axes that the task does not have, for values at which it cannot be built, for
// examples that the model cannot read (more tokens, or longer than its positions or filters), and for a reading that
// the model does not have. `has_step`: every mixer of the model has a recurrent form.
std::vector<EvaluationPoint> plan_evaluation(const RunConfig& run, const EvaluationRequest& request, bool has_step);

// "64,128,256", "64..6400x2" (times two; 6400 is the last), "64..640+64". Throws Error(usage).
std::vector<std::int64_t> parse_axis_values(std::string_view text);

}  // namespace mneme::config
