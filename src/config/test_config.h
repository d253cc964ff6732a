// The table [test] of a run's configuration: what a trained model is tested on beyond its own test split.
//
//   along, values, examples: one of the task's generalisation axes, where on it, and how many examples at each value
//   phases, traces:          for signals: the phase tests, and examples whose outputs are kept
#pragma once

#include "config/run_config.h"
#include "tasks/phase_tests.h"

namespace mneme::config {

// Fills run.test. Task, model and train must be resolved before. Without `along`, values and examples say nothing and
// have their defaults. Throws Error(usage) for an axis that the task does not have, for values at which the task cannot
// be built, and for sequences that the model cannot read.
void resolve_test(RunConfig& run, const ConfigValue& table);

// What the table says, null if that is nothing: then the configuration, and with it the run's id, is as without it.
Json test_json(const RunConfig& run);

// The run as it is tested at one value of its axis: task, shape and the number of sequences at a time are those of the
// longer examples, so that the memory is bounded whatever the length.
RunConfig at_test_value(const RunConfig& run, std::int64_t value);

// The same for any options of its task.
RunConfig with_task(const RunConfig& run, Options task);

// Why the model cannot read sequences of this length: what of it was made for a number of steps and knows no others. ""
// if it can.
std::string fixed_length_of(const RunConfig& run, std::int64_t length);

// The timing of a counting task.
tasks::Timing timing_of(const Options& task);

}  // namespace mneme::config
